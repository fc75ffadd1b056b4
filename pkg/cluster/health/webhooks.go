package health

import (
	"cmp"
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var configurationTypes = []snapshot.Type{
	{Group: admissionGroup, Version: "v1", Resource: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"},
	{Group: admissionGroup, Version: "v1", Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"},
}

// ServicesCalled returns what the API server calls: the backends of the snapshot if c is nil. If some could not be
// read, it returns the others and an error.
func ServicesCalled(ctx context.Context, c *client.Client, s *snapshot.Snapshot) (out []reason.BackendLost, failed error) {
	switch {
	case c != nil:
	case s.Backends == nil:
		return nil, errors.New("a snapshot does not have the Services that are called")
	default:
		return s.Backends, nil
	}
	for _, t := range append([]snapshot.Type{discovery.APIServices, discovery.Definitions}, configurationTypes...) {
		if !slices.ContainsFunc(s.Types, func(served snapshot.Type) bool { return served.GroupResource() == t.GroupResource() }) {
			continue
		}
		err := client.EachWhole(ctx, c, client.Query{Type: t}, metav1.ListOptions{Limit: 100}, func(found snapshot.Caller) bool {
			found.APIVersion, found.Kind = t.APIVersion(), t.Kind
			out = append(out, found.Backends()...)
			return true
		})
		failed = cmp.Or(failed, err)
	}
	return out, failed
}

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
	for _, t := range configurationTypes {
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
