package health

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Webhooks returns the admission webhooks for a DELETE or an UPDATE that fail closed, and whose Service is
// proven to be missing or to have no endpoint that is ready: those of the snapshot if c is nil, as it is from a file.
func Webhooks(ctx context.Context, c *client.Client, s *snapshot.Snapshot) ([]snapshot.AdmissionWebhook, error) {
	if c == nil {
		return s.Webhooks, nil
	}
	var out []snapshot.AdmissionWebhook
	states := map[snapshot.ServiceReference]reason.BackendState{}
	state := func(service snapshot.ServiceReference) reason.BackendState {
		if _, known := states[service]; !known {
			states[service], _ = serviceState(ctx, c, &service) // unknown after an error
		}
		return states[service]
	}
	for _, t := range []snapshot.Type{
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"},
	} {
		all, err := client.ListWhole[snapshot.WebhookConfiguration](ctx, c, client.Query{Type: t}, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, configuration := range all {
			configuration.APIVersion, configuration.Kind = t.APIVersion(), t.Kind
			out = append(out, configuration.WithoutBackend(state)...)
		}
	}
	return out, ctx.Err()
}
