package snapshot

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// AdmissionWebhook is an admission webhook, an admission policy or its binding, and what it matches.
type AdmissionWebhook struct {
	Name                              string
	Refuses                           reason.WebhookRefuses `json:"-"` // without an operation and objects; the zero value if it has a backend
	Rules                             []WebhookRule
	NamespaceSelector, ObjectSelector metav1.LabelSelector
	MatchConditions                   []Expression
	MatchPolicy                       string
}

// Expression is one in CEL.
type Expression struct{ Expression string }

// LooksAtUser reports whether the answer to an expression depends on who sends the request.
func (e Expression) LooksAtUser() bool {
	return strings.Contains(e.Expression, "userInfo") || strings.Contains(e.Expression, "authorizer")
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

// Identity returns the configuration without its webhooks.
func (c *WebhookConfiguration) Identity() object.Identity {
	return object.Identity{APIVersion: c.APIVersion, Kind: c.Kind, Name: c.Metadata.Name, UID: c.Metadata.UID}
}

// Caller is an object by which the API server calls Services: an APIService, a CustomResourceDefinition or a webhook
// configuration.
type Caller struct {
	WebhookConfiguration
	Spec struct {
		Service    *ServiceReference
		Conversion struct {
			Webhook struct {
				ClientConfig struct{ Service *ServiceReference }
			}
		}
	}
}

var groupsOfCallers = []string{"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"}

// Backends returns what the API server cannot do without each of the Services. What fails open is left out.
func (c *Caller) Backends() (out []reason.BackendLost) {
	of := c.Identity()
	for _, s := range []*ServiceReference{c.Spec.Service, c.Spec.Conversion.Webhook.ClientConfig.Service} {
		if s != nil {
			out = append(out, reason.BackendLost{Object: of, Service: s.Namespace + "/" + s.Name})
		}
	}
	for _, w := range c.Webhooks {
		s := w.ClientConfig.Service
		if s == nil || w.FailurePolicy == "Ignore" || len(w.Rules) == 0 {
			continue
		}
		called := func(b reason.BackendLost) bool { return b.Service == s.Namespace+"/"+s.Name }
		i := slices.IndexFunc(out, called)
		if i < 0 {
			i, out = len(out), append(out, reason.BackendLost{Object: of, Service: s.Namespace + "/" + s.Name})
		}
		for _, r := range w.Rules {
			writes := r.String()
			if len(w.MatchConditions)+w.NamespaceSelector.Size()+w.ObjectSelector.Size() > 0 {
				writes += " that its selectors or conditions match"
			}
			if !slices.Contains(out[i].Refuses, writes) {
				out[i].Refuses = append(out[i].Refuses, writes)
			}
		}
	}
	return out
}

// String returns what the rule matches: "CREATE and DELETE of pods and deployments.apps".
func (r *WebhookRule) String() string {
	var types []string
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			if strings.HasPrefix(resource, "*") && group == "*" {
				resource = "any type"
			}
			types = append(types, strings.TrimRight(resource+"."+group, ".*"))
		}
	}
	return strings.ReplaceAll(strings.Join(r.Operations, " and "), "*", "write") + " of " + strings.Join(types, " and ")
}

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
				Configuration: c.Identity(), Service: service.Namespace + "/" + service.Name, State: state,
			}
			out = append(out, w.AdmissionWebhook)
		}
	}
	return out
}

// WebhookRule is which requests a webhook or policy is about. Without operations it is about all, as some of a binding are.
type WebhookRule struct {
	Operations, APIGroups, APIVersions, Resources, ResourceNames []string
	Scope                                                        string
}

// WriteRequest is a DELETE or an UPDATE of an object.
type WriteRequest struct {
	Object    object.Identity
	Operation string
	Finalizer string // that the UPDATE removes; empty if it is another change
	UnderWay  bool   // it ends a deletion that was requested
}

// Endings returns the writes that end the selected objects: their deletion or, of those that are terminating, the removal
// of each finalizer and the deletion of what blocks them. The contents of a selected Namespace count as selected.
func (s *Snapshot) Endings(selected func(*object.Object) bool) (out []WriteRequest) {
	namespaces, waiting := map[string]*object.Object{}, map[types.UID]bool{}
	for _, o := range s.Objects {
		if o.IsNamespace() && selected(o) {
			namespaces[o.Name] = o
		}
		waiting[o.UID] = o.DeletingDependents() && selected(o)
	}
	for _, o := range s.Objects {
		in := namespaces[o.Namespace]
		blocks := slices.ContainsFunc(o.Owners, func(r object.Reference) bool { return r.Blocks() && waiting[r.UID] })
		switch {
		case in == nil && !blocks && !selected(o):
		case !o.Terminating():
			out = append(out, WriteRequest{Object: o.Identity, Operation: "DELETE", UnderWay: blocks || in != nil && in.Terminating()})
		default:
			for _, finalizer := range o.Finalizers {
				out = append(out, WriteRequest{o.Identity, "UPDATE", finalizer, true})
			}
		}
	}
	return out
}

// RefusesRemoval reports whether the API server refuses the removal of a finalizer of an object, or of one like it.
func (s *Snapshot) RefusesRemoval(o *object.Object) bool {
	return slices.ContainsFunc(s.Refused, func(r reason.WebhookRefuses) bool {
		return r.Operation == "UPDATE" && r.First.Kind == o.Kind && r.First.Namespace == o.Namespace && (r.Finalizer == "" || slices.Contains(o.Finalizers, r.Finalizer))
	})
}

// maxSampled is how many objects are taken as samples where conditions decide, each of another kind or namespace.
const maxSampled = 5

// Samples returns, for each of some webhooks or pairs of a policy and its binding, a DELETE and an UPDATE that changes
// nothing of an object that it matches, or of some if conditions decide. The scan must have kept labels.
func (s *Snapshot) Samples(of [][]AdmissionWebhook) (out []WriteRequest) {
	m := s.NewMatcher()
	for _, all := range of {
		for _, operation := range []string{"DELETE", "UPDATE"} {
			found := map[string]bool{} // kinds and namespaces
			for _, o := range s.Objects {
				if o.Terminating() || operation == "DELETE" && o.DeleteForbidden() {
					continue
				}
				matches, certain := m.Matches(all, o, operation)
				if key := o.Kind + " " + o.Namespace; matches && !found[key] {
					found[key] = true
					out = append(out, WriteRequest{Object: o.Identity, Operation: operation})
				}
				if matches && certain || len(found) == maxSampled {
					break
				}
			}
		}
	}
	return out
}

// Matcher finds out which writes of the objects of a scan that kept labels webhooks and policies match.
type Matcher struct {
	view       *View
	namespaces map[string]labels.Set // nil: not listed
}

// NewMatcher returns the Matcher of a scan.
func (s *Snapshot) NewMatcher() *Matcher {
	m := &Matcher{NewView(s), map[string]labels.Set{}}
	for _, o := range s.Objects {
		if o.IsNamespace() {
			m.namespaces[o.Name] = labelsOf(o)
		}
	}
	return m
}

func labelsOf(o *object.Object) labels.Set {
	if o.Labels == nil {
		return labels.Set{}
	}
	return o.Labels
}

// Matches reports whether a webhook, or both a policy and its binding, match a write, and whether that is certain: conditions
// may decide.
func (m *Matcher) Matches(all []AdmissionWebhook, o *object.Object, operation string) (matches, certain bool) {
	matches, certain = true, true
	for i := 0; i < len(all) && matches; i++ {
		var sure bool
		matches, sure = all[i].matches(m.view, o.Identity, operation, labelsOf(o), m.namespaces[o.InNamespace()])
		certain = certain && sure
	}
	return matches, certain
}

// ServedByKubernetes reports whether the API server serves a kind itself: it is built in, or a
// CustomResourceDefinition of the scan defines it. What an aggregated API makes of a dry run is not known.
func (s *Snapshot) ServedByKubernetes(v *View, o object.Identity) bool {
	m, ok := v.Map(o.APIVersion, o.Kind)
	definition := m.Type.Resource + "." + m.Type.Group
	return ok && (BuiltInGroup(m.Type.Group) || slices.ContainsFunc(s.Objects, func(o *object.Object) bool { return o.IsCRD() && o.Name == definition }))
}

// BuiltInGroup reports whether Kubernetes itself defines an API group. The suffix
// k8s.io does not tell: SIGs use it for CustomResourceDefinitions and aggregated APIs, too.
func BuiltInGroup(group string) bool {
	return slices.Contains([]string{
		"", "apps", "batch", "autoscaling", "policy", "extensions",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
		"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
		"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
	}, group)
}

// Refusals returns which of the writes the API server refuses because of these webhooks, by
// configuration.
func (v *View) Refusals(webhooks []AdmissionWebhook, writes []WriteRequest) []reason.WebhookRefuses {
	var out []reason.WebhookRefuses
	for i, write := range writes {
		if i > 0 && writes[i-1].Object == write.Object && writes[i-1].Operation == write.Operation {
			continue // the removal of another finalizer
		}
		for _, w := range webhooks {
			matches, certain := w.matches(v, write.Object, write.Operation, nil, nil)
			if !matches {
				continue
			}
			r := w.Refuses
			r.Operation, r.Uncertain, r.First = write.Operation, !certain, write.Object
			out = reason.AddRefusal(out, r)
			break // one is enough
		}
	}
	return out
}

// Calls reports whether a rule of the webhook is about DELETE or UPDATE.
func (w *AdmissionWebhook) Calls(operation string) bool {
	return slices.ContainsFunc(w.Rules, func(r WebhookRule) bool { return has(r.Operations, operation) })
}

func has(list []string, word string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, word)
}

// matches reports whether the API server calls the webhook for a write. It never does so for the types of admission
// themselves. Labels are nil if they are not known.
func (w *AdmissionWebhook) matches(v *View, o object.Identity, operation string, own, namespace labels.Set) (matches, certain bool) {
	m, ok := v.Map(o.APIVersion, o.Kind)
	if !ok || m.Type.Group == "admissionregistration.k8s.io" {
		return false, true
	}
	matches = slices.ContainsFunc(w.Rules, func(r WebhookRule) bool {
		return (len(r.Operations) == 0 || has(r.Operations, operation)) && has(r.APIGroups, m.Type.Group) && (w.MatchPolicy != "Exact" || has(r.APIVersions, m.Type.Version)) &&
			(r.Scope == "" || r.Scope == "*" || (r.Scope == "Namespaced") == (o.Namespace != "")) && (len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, o.Name)) &&
			slices.ContainsFunc(r.Resources, func(resource string) bool {
				name, sub, _ := strings.Cut(resource, "/")
				return has([]string{name}, m.Type.Resource) && (sub == "" || sub == "*")
			})
	})
	if !matches {
		return false, true
	}
	certain = len(w.MatchConditions) == 0
	selects := func(by metav1.LabelSelector, known labels.Set, key string) { // only the label key is known if the others are nil
		selector, err := metav1.LabelSelectorAsSelector(&by)
		if err != nil {
			certain = false
			return
		}
		requirements, _ := selector.Requirements()
		for _, r := range requirements {
			judged := known != nil || r.Key() == key
			matches, certain = matches && (!judged || r.Matches(labels.Merge(known, labels.Set{key: o.InNamespace()}))), certain && judged
		}
	}
	selects(w.ObjectSelector, own, "")
	if o.InNamespace() != "" { // cluster-scoped objects match any selector of namespaces
		selects(w.NamespaceSelector, namespace, "kubernetes.io/metadata.name") // the API server sets that label
	}
	return matches, certain
}
