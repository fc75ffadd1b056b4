package health

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// withoutBackend returns the admission webhooks for a DELETE or an UPDATE that fail closed, and whose Service is
// proven to be missing or to have no endpoint that is ready.
func withoutBackend(ctx context.Context, c *client.Client, configurations []snapshot.WebhookConfiguration) (out []snapshot.AdmissionWebhook) {
	states := map[snapshot.ServiceReference]reason.BackendState{}
	state := func(service snapshot.ServiceReference) reason.BackendState {
		if _, known := states[service]; !known {
			states[service], _ = serviceState(ctx, c, &service) // unknown after an error
		}
		return states[service]
	}
	for _, configuration := range configurations {
		out = append(out, configuration.WithoutBackend(state)...)
	}
	return out
}

func webhookConfigurations(ctx context.Context, c *client.Client) (out []snapshot.WebhookConfiguration, err error) {
	for _, t := range []snapshot.Type{
		{Group: admissionGroup, Version: "v1", Resource: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"},
		{Group: admissionGroup, Version: "v1", Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"},
	} {
		all, err := client.ListWhole[snapshot.WebhookConfiguration](ctx, c, client.Query{Type: t}, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range all {
			all[i].APIVersion, all[i].Kind = t.APIVersion(), t.Kind
		}
		out = append(out, all...)
	}
	return out, nil
}
