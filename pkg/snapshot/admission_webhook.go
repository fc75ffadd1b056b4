package snapshot

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// AdmissionWebhook is an admission webhook without a backend, and what it matches.
type AdmissionWebhook struct {
	Refuses                           reason.WebhookRefuses `json:"-"` // without an operation and objects
	Rules                             []webhookRule
	NamespaceSelector, ObjectSelector metav1.LabelSelector
	MatchConditions                   []struct{}
	MatchPolicy                       string
}

// WebhookConfiguration is a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration.
type WebhookConfiguration struct {
	APIVersion, Kind string
	Metadata         metav1.ObjectMeta
	Webhooks         []struct {
		AdmissionWebhook
		ClientConfig  struct{ Service *ServiceReference } // nil for a URL, which is not checked
		FailurePolicy string
	}
}

// ServiceReference names the Service behind an API or webhook.
type ServiceReference struct{ Namespace, Name string }

// WithoutBackend returns the webhooks of a configuration for a DELETE or an UPDATE that fail closed, and whose Service
// is proven to be missing or to have no endpoint that is ready.
func (c *WebhookConfiguration) WithoutBackend(state func(ServiceReference) reason.BackendState) []AdmissionWebhook {
	var out []AdmissionWebhook
	for _, w := range c.Webhooks {
		service := w.ClientConfig.Service
		if service == nil || w.FailurePolicy == "Ignore" || !w.Calls("DELETE") && !w.Calls("UPDATE") {
			continue
		}
		if state := state(*service); state == reason.BackendMissing || state == reason.BackendNoEndpoints {
			w.Refuses = reason.WebhookRefuses{
				Configuration: object.Identity{APIVersion: c.APIVersion, Kind: c.Kind, Name: c.Metadata.Name, UID: c.Metadata.UID},
				Service:       service.Namespace + "/" + service.Name, State: state,
			}
			out = append(out, w.AdmissionWebhook)
		}
	}
	return out
}

type webhookRule struct {
	Operations, APIGroups, APIVersions, Resources []string
	Scope                                         string
}

// Write is a DELETE or an UPDATE of an object.
type Write struct {
	Object    object.Identity
	Operation string
}

// Refusals returns which of the writes the API server refuses because of these webhooks, by
// configuration.
func (v *View) Refusals(webhooks []AdmissionWebhook, writes []Write) []reason.WebhookRefuses {
	var out []reason.WebhookRefuses
	for _, write := range writes {
		for _, w := range webhooks {
			matches, certain := w.matches(v, write)
			if !matches {
				continue
			}
			r := w.Refuses
			r.Operation, r.Uncertain, r.First = write.Operation, !certain, write.Object
			i := slices.IndexFunc(out, func(known reason.WebhookRefuses) bool {
				known.First, known.More = r.First, r.More
				return known == r
			})
			if i < 0 {
				out = append(out, r)
			} else {
				out[i].More++
			}
			break // one is enough
		}
	}
	return out
}

// Calls reports whether a rule of the webhook is about DELETE or UPDATE.
func (w *AdmissionWebhook) Calls(operation string) bool {
	return slices.ContainsFunc(w.Rules, func(r webhookRule) bool { return has(r.Operations, operation) })
}

func has(list []string, word string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, word)
}

// matches reports whether the API server calls the webhook for a write. It never does so for the
// types of admission themselves. Of the labels, only the name of a namespace is known.
func (w *AdmissionWebhook) matches(v *View, write Write) (matches, certain bool) {
	o := write.Object
	m, ok := v.Map(o.APIVersion, o.Kind)
	if !ok || m.Type.Group == "admissionregistration.k8s.io" {
		return false, true
	}
	for _, r := range w.Rules {
		for _, resource := range r.Resources {
			name, sub, _ := strings.Cut(resource, "/")
			matches = matches || has(r.Operations, write.Operation) && has(r.APIGroups, m.Type.Group) && (w.MatchPolicy != "Exact" || has(r.APIVersions, m.Type.Version)) &&
				has([]string{name}, m.Type.Resource) && (sub == "" || sub == "*") && (r.Scope == "" || r.Scope == "*" || (r.Scope == "Namespaced") == (o.Namespace != ""))
		}
	}
	certain = len(w.MatchConditions)+len(w.ObjectSelector.MatchLabels)+len(w.ObjectSelector.MatchExpressions) == 0
	selector, err := metav1.LabelSelectorAsSelector(&w.NamespaceSelector)
	if err != nil || o.InNamespace() == "" { // cluster-scoped objects match any selector
		return matches, certain && err == nil
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		known := r.Key() == "kubernetes.io/metadata.name" // the API server sets it
		matches = matches && (!known || r.Matches(labels.Set{r.Key(): o.InNamespace()}))
		certain = certain && known
	}
	return matches, certain
}
