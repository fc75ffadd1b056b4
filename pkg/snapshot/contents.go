package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// ContentsGaps returns the gaps that may hide contents of a Namespace or
// CustomResourceDefinition, which are deleted with it. The gaps are sorted and without
// those that were accepted; contested UIDs cannot be accepted. It returns nil for every
// other object.
//
// A Namespace contains the objects of every namespaced type that can be deleted, whether
// the collector watches it or not (namespacedResourcesDeleter in
// pkg/controller/namespace/deletion); Events are left out. A CustomResourceDefinition
// contains the objects of the type that it defines.
func (v *View) ContentsGaps(container object.Identity, accepted AcceptedGaps) []Gap {
	var out []Gap
	switch {
	case container.IsNamespace():
		for _, t := range v.types {
			if t.Preferred && t.Namespaced && t.Can("delete") && !t.isEvents() {
				out = append(out, v.typeGaps(t.GroupResource(), container.Name)...)
			}
		}
		for _, g := range v.gaps {
			if g.Reason == Undiscovered || g.Resource == All && g.Name == "" && (g.Namespace == container.Name || g.Namespace == "" && g.Reason != ContestedUID) {
				out = append(out, g)
			}
		}
	case container.IsCRD():
		out = v.typeGaps(schema.ParseGroupResource(container.Name), "")
	}
	out = slices.DeleteFunc(out, func(g Gap) bool { return g.Reason != ContestedUID && accepted.Covers(g) })
	slices.SortFunc(out, Gap.Compare)
	return slices.CompactFunc(out, Gap.Equal)
}

// FinalizationGaps returns the gaps that keep the namespace controller from completing the
// deletion of a Namespace, sorted. If certain is false, they only may
// (docs/gc-semantics.md#contents-of-a-namespace).
//
// That controller deletes what it can discover, and completes nothing as long as discovery
// fails for any group, even one without namespaced types. The deletion also fails if it
// cannot list a type, which is uncertain: whether a conversion webhook fails depends on the
// objects in that namespace, and a request of this program may fail where that of the
// controller does not. A gap that is due to the permissions of the user, or to a file, has no
// such effect. A type that is missing from discovery is unknown to the controller, too.
func (v *View) FinalizationGaps(namespace string) (gaps []Gap, certain bool) {
	var groups, others []Gap
	for _, g := range v.gaps {
		switch failed := g.Reason == Unavailable || g.Reason == ServerError; {
		case g.Name != "" || !failed && !slices.Contains([]ErrorClass{TimedOut, Throttled, Unreadable, Webhook, StoreRead}, g.Reason):
		case g.Resource != All && !v.mayHide(g, namespace):
		case g.Resource == All && g.Group != All && g.Group != "" && failed:
			groups = append(groups, g)
		default:
			in, _ := g.In(namespace)
			others = append(others, in)
		}
	}
	if len(groups) > 0 {
		return groups, true
	}
	return others, false
}

// mayHide reports whether the gap of a type may hide contents of a namespace.
func (v *View) mayHide(g Gap, namespace string) bool {
	if g.Namespace != "" && g.Namespace != namespace || v.Listed(schema.GroupResource{Group: g.Group, Resource: g.Resource}, namespace) {
		return false
	}
	return slices.ContainsFunc(v.types, func(t Type) bool {
		return t.Group == g.Group && t.Resource == g.Resource && t.Preferred && t.Namespaced && t.Can("delete")
	})
}

// ContentsUnknown returns the reason not to delete a Namespace or CustomResourceDefinition
// with these ContentsGaps.
func ContentsUnknown(gaps []Gap) *reason.Reason {
	return reason.ContentsUnknown(Parameters(gaps))
}

// NotFinalized returns the reason why a Namespace with these FinalizationGaps stays, or may
// stay.
func NotFinalized(gaps []Gap, certain bool) *reason.Reason {
	if certain {
		return reason.GroupsUndiscoverable(Parameters(gaps))
	}
	return reason.ContentsUnlistable(Parameters(gaps))
}

// Contains reports whether the deletion of a Namespace or CustomResourceDefinition also
// deletes o (docs/gc-semantics.md#contents-of-a-namespace, #instances-of-a-crd).
func (v *View) Contains(container object.Identity, o *object.Object) bool {
	if container.IsNamespace() {
		return o.Namespace == container.Name
	}
	m, ok := v.Map(o.APIVersion, o.Kind)
	return ok && container.IsCRD() && m.Type.String() == container.Name
}

// typeGaps returns the gaps that may hide objects of the type in that namespace, or in any
// if namespace is empty.
func (v *View) typeGaps(gr schema.GroupResource, namespace string) []Gap {
	var out []Gap
	for _, g := range v.gaps {
		if g.Reason == ContestedUID && g.Group == gr.Group && g.Resource == gr.Resource && (namespace == "" || g.Namespace == namespace) {
			out = append(out, g)
		}
	}
	if v.Listed(gr, namespace) {
		return out
	}
	if gap := v.GapAt(gr, namespace); gap != nil {
		return append(out, *gap)
	}
	message := "the API server does not serve this type"
	for _, t := range v.types {
		if t.GroupResource() != gr {
			continue
		}
		if t.Monitored() {
			message = "it was not part of the scan"
			break
		}
		message = "the API server does not offer to list and watch this type"
	}
	return append(out, Gap{Group: gr.Group, Resource: gr.Resource, Namespace: namespace, Reason: NotListed, Message: message})
}
