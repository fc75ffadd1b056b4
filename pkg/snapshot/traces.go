package snapshot

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// traceTypes are the types whose objects show which controllers are installed. Only the names of
// the objects are known: what a webhook is called for is not in the metadata.
var traceTypes = []schema.GroupResource{
	{Group: "apiregistration.k8s.io", Resource: "apiservices"},
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
	{Group: "admissionregistration.k8s.io", Resource: "mutatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Resource: "validatingwebhookconfigurations"},
}

// maxTraces is how many names a list of traces has.
const maxTraces = 5

// Traces finds what a scan shows of controllers. It is immutable and safe for concurrent use.
type Traces struct {
	view   *View
	groups []string // served, sorted
	// apiServices, definitions and webhooks are names. The name of an APIService is version.group,
	// and that of a CustomResourceDefinition is resource.group.
	apiServices, definitions, webhooks []string
}

// NewTraces indexes the objects of a scan, whose view it is.
func NewTraces(v *View, objects []*object.Object) *Traces {
	t := &Traces{view: v}
	for _, served := range v.types {
		t.groups = append(t.groups, served.Group)
	}
	slices.Sort(t.groups)
	t.groups = slices.Compact(t.groups)
	for _, o := range objects {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		switch {
		case group == traceTypes[0].Group && o.Kind == "APIService":
			t.apiServices = append(t.apiServices, o.Name)
		case o.IsCRD():
			t.definitions = append(t.definitions, o.Name)
		case group == traceTypes[2].Group && (o.Kind == "MutatingWebhookConfiguration" || o.Kind == "ValidatingWebhookConfiguration"):
			t.webhooks = append(t.webhooks, o.Name)
		}
	}
	return t
}

// Of returns what the scan shows of the controllers of a DNS domain, besides the API group of the object in
// question and its CustomResourceDefinitions: the object cannot exist without them.
func (t *Traces) Of(domain, own string) reason.ControllerTraces {
	out := reason.ControllerTraces{Domain: domain}
	if sameDomain(domain, own) {
		out.Own = own
	}
	add := func(list *[]string, name string) {
		switch {
		case slices.Contains(*list, name):
		case len(*list) == maxTraces:
			out.More++
		default:
			*list = append(*list, name)
		}
	}
	for _, group := range t.groups {
		if group != out.Own && sameDomain(domain, group) {
			add(&out.Groups, group)
		}
	}
	for _, name := range t.apiServices {
		_, group, _ := strings.Cut(name, ".")
		if _, served := slices.BinarySearch(t.groups, group); !served && sameDomain(domain, group) {
			add(&out.APIServices, name)
		}
	}
	for _, name := range t.definitions {
		if _, group, _ := strings.Cut(name, "."); group != out.Own && sameDomain(domain, group) {
			out.Definitions++
		}
	}
	for _, name := range t.webhooks {
		if carries(name, domain) {
			add(&out.Webhooks, name)
		}
	}
	if !out.Any() {
		out.Unread = t.unread(domain)
	}
	return out
}

// unread returns what may hide further traces.
func (t *Traces) unread(domain string) []reason.Gap {
	var out []reason.Gap
	for _, g := range t.view.gaps {
		if g.Resource == All && (g.Group == All || sameDomain(domain, g.Group)) {
			out = append(out, g.Parameter())
		}
	}
	for _, gr := range traceTypes {
		switch gap := t.view.GapAt(gr, ""); {
		case t.view.Listed(gr, ""):
		case gap == nil:
			out = append(out, reason.Gap{Group: gr.Group, Resource: gr.Resource, ErrorClass: string(NotListed)})
		case gap.Group != All:
			out = append(out, gap.Parameter())
		}
	}
	return out
}

// sameDomain reports whether an API group belongs to a domain: one of them is the other, or a
// subdomain of it.
func sameDomain(domain, group string) bool {
	if !strings.Contains(group, ".") {
		return false
	}
	return domain == group || strings.HasSuffix(group, "."+domain) || strings.HasSuffix(domain, "."+group)
}

// carries reports whether the labels of a domain are part of a name, as in
// "validation.webhook.example.com" or "example.com-webhook".
func carries(name, domain string) bool {
	boundary := func(b byte) bool { return b == '.' || b == '-' || b == ':' || b == '_' }
	for rest, at := name, 0; ; {
		i := strings.Index(rest, domain)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(domain)
		if (begin == 0 || boundary(name[begin-1])) && (end == len(name) || boundary(name[end])) {
			return true
		}
		at, rest = begin+1, name[begin+1:]
	}
}
