package health

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type webhookConfiguration struct {
	Metadata metav1.ObjectMeta
	Webhooks []struct {
		snapshot.AdmissionWebhook
		ClientConfig  struct{ Service *serviceReference } // nil for a URL, which is not checked
		FailurePolicy string
	}
}

// Webhooks returns the admission webhooks for a DELETE or an UPDATE that fail closed, and whose Service is
// proven to be missing or to have no endpoint that is ready.
func Webhooks(ctx context.Context, c *client.Client) ([]snapshot.AdmissionWebhook, error) {
	var out []snapshot.AdmissionWebhook
	states := map[serviceReference]reason.BackendState{}
	for _, t := range []snapshot.Type{
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations", Kind: "MutatingWebhookConfiguration"},
	} {
		all, err := client.ListWhole[webhookConfiguration](ctx, c, client.Query{Type: t}, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, configuration := range all {
			for _, w := range configuration.Webhooks {
				service := w.ClientConfig.Service
				if service == nil || w.FailurePolicy == "Ignore" || !w.Calls("DELETE") && !w.Calls("UPDATE") {
					continue
				}
				if _, known := states[*service]; !known {
					states[*service], _ = serviceState(ctx, c, service) // unknown after an error
				}
				if state := states[*service]; state == reason.BackendMissing || state == reason.BackendNoEndpoints {
					w.Refuses = reason.WebhookRefuses{
						Configuration: object.Identity{APIVersion: t.APIVersion(), Kind: t.Kind, Name: configuration.Metadata.Name, UID: configuration.Metadata.UID},
						Service:       service.Namespace + "/" + service.Name, State: state,
					}
					out = append(out, w.AdmissionWebhook)
				}
			}
		}
	}
	return out, ctx.Err()
}
