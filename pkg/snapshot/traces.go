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
	{Group: "apps", Resource: "deployments"},
}

// maxTraces is how many traces are named.
const maxTraces = 3

// Traces finds what a scan shows of controllers. It is immutable and safe for concurrent use.
type Traces struct {
	view    *View
	objects []*object.Object // that may be traces
	leases  []string         // nil if they were not read
}

// NewTraces indexes the objects of a scan, whose view it is.
func NewTraces(v *View, s *Snapshot) *Traces {
	t := &Traces{view: v, leases: s.ActiveLeases}
	for _, o := range s.Objects {
		if traceKinds[o.GroupVersionKind().GroupKind()] {
			t.objects = append(t.objects, o)
		}
	}
	return t
}

var traceKinds = map[schema.GroupKind]bool{
	{Group: "apps", Kind: "Deployment"}: true, {Group: "apps", Kind: "StatefulSet"}: true,
	{Group: traceTypes[0].Group, Kind: "APIService"}: true, {Group: traceTypes[1].Group, Kind: "CustomResourceDefinition"}: true,
	{Group: traceTypes[2].Group, Kind: "MutatingWebhookConfiguration"}: true, {Group: traceTypes[2].Group, Kind: "ValidatingWebhookConfiguration"}: true,
}

// Of returns what the scan shows of the controllers of a DNS domain or its parent domain, besides the type of
// the object in question: the object cannot exist without it.
func (t *Traces) Of(domain string, of *object.Object) reason.ControllerTraces {
	own, _ := t.view.Map(of.APIVersion, of.Kind)
	out := reason.ControllerTraces{Domain: domain, Own: sameDomain(domain, of.GroupVersionKind().Group)}
	labels := strings.Split(domain, ".")
	project := labels[max(len(labels)-2, 0)] // example, of hooks.example.com
	add := func(trace string, found bool) {
		switch {
		case !found || slices.Contains(out.Found, trace):
		case len(out.Found) == maxTraces:
			out.More++
		default:
			out.Found = append(out.Found, trace)
		}
	}
	if s := of.Status; s != nil {
		out.Watched = t.leases != nil
		for _, w := range s.Writers {
			out.Active = append(out.Active, "a write by "+w)
		}
		for _, r := range s.Reporters {
			if carries(r, project) || carries(r, labels[0]) || out.Own && strings.Contains(strings.ToLower(r), strings.ToLower(of.Kind)) {
				out.Active = append(out.Active, "an Event from "+r)
			}
		}
	}
	for _, l := range t.leases {
		if carries(l, project) || carries(l, labels[0]) {
			out.Active = append(out.Active, "Lease "+l)
		}
	}
	for _, o := range t.objects {
		switch o.Kind {
		case "Deployment", "StatefulSet":
			add(o.String(), carries(o.Name, project))
		case "APIService":
			_, group, _ := strings.Cut(o.Name, ".")
			add(o.String(), sameDomain(domain, group) && !slices.ContainsFunc(t.view.types, func(t Type) bool { return t.Group == group }))
		case "CustomResourceDefinition":
			_, group, _ := strings.Cut(o.Name, ".")
			add("type "+o.Name, sameDomain(domain, group) && o.Name != own.Type.String())
		default:
			add(o.String(), carries(o.Name, domain))
		}
	}
	for _, served := range t.view.types {
		add("type "+served.String(), sameDomain(domain, served.Group) && served.String() != own.Type.String())
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

// sameDomain reports whether an API group belongs to a domain or its parent domain: one of them is the other, or
// a subdomain of it. Many projects share the domains of Kubernetes.
func sameDomain(domain, group string) bool {
	if !strings.Contains(group, ".") {
		return false
	}
	if _, parent, _ := strings.Cut(domain, "."); strings.Contains(parent, ".") && !strings.HasSuffix(parent, "k8s.io") && !strings.HasSuffix(parent, "kubernetes.io") {
		domain = parent
	}
	return domain == group || strings.HasSuffix(group, "."+domain) || strings.HasSuffix(domain, "."+group)
}

// carries reports whether the labels of a domain are part of a name, as in
// "validation.webhook.example.com" or "example.com-webhook".
func carries(name, domain string) bool {
	boundary := func(b byte) bool { return strings.IndexByte(".-:_/ ()", b) >= 0 }
	for rest, at := name, 0; ; {
		i := strings.Index(rest, domain)
		if i < 0 || domain == "" {
			return false
		}
		begin, end := at+i, at+i+len(domain)
		if (begin == 0 || boundary(name[begin-1])) && (end == len(name) || boundary(name[end])) {
			return true
		}
		at, rest = begin+1, name[begin+1:]
	}
}
