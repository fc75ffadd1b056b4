package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// ContentsGaps returns what may hide objects that the deletion of a Namespace or of a
// CustomResourceDefinition takes along, sorted. It returns none where everything in it
// was listed or the gap was accepted, and for every other object. An object with a
// contested UID is never accepted.
//
// A Namespace takes along the objects of every namespaced type that can be deleted,
// whether the collector watches it or not (namespacedResourcesDeleter in
// pkg/controller/namespace/deletion), Events left out. A CustomResourceDefinition takes
// along the objects of the type that it is named after.
func (v *View) ContentsGaps(of object.Identity, accepted AcceptedGaps) []Gap {
	var out []Gap
	switch {
	case of.IsNamespace():
		for _, t := range v.types {
			if t.Preferred && t.Namespaced && t.Can("delete") && !t.isEvents() {
				out = append(out, v.hiding(t.GroupResource(), of.Name)...)
			}
		}
		for _, g := range v.gaps {
			if g.Reason == Undiscovered || g.Resource == All && g.Name == "" && (g.Reason != ContestedUID || g.Namespace == of.Name) {
				out = append(out, g)
			}
		}
	case of.IsDefinition():
		out = v.hiding(schema.ParseGroupResource(of.Name), "")
	}
	out = slices.DeleteFunc(out, func(g Gap) bool { return g.Reason != ContestedUID && accepted.Covers(g) })
	slices.SortFunc(out, Gap.Compare)
	return slices.Compact(out)
}

// ContentsUnknown returns why an object that takes others along is not deleted: these gaps
// may hide some of them.
func ContentsUnknown(gaps []Gap) reason.ContentsUnknown {
	out := reason.ContentsUnknown{Gaps: make([]reason.Gap, len(gaps))}
	for i, g := range gaps {
		out.Gaps[i] = g.Parameter()
	}
	return out
}

// Contains reports whether the deletion of a Namespace or of a CustomResourceDefinition
// takes along that object.
func (v *View) Contains(of object.Identity, o *object.Object) bool {
	if of.IsNamespace() {
		return o.Namespace == of.Name
	}
	m, ok := v.Map(o.APIVersion, o.Kind)
	return ok && of.IsDefinition() && m.Type.String() == of.Name
}

// hiding returns what may hide objects of the type in that namespace, or anywhere.
func (v *View) hiding(gr schema.GroupResource, namespace string) []Gap {
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
	served := slices.ContainsFunc(v.types, func(t Type) bool { return t.GroupResource() == gr })
	unlisted := Gap{Group: gr.Group, Resource: gr.Resource, Namespace: namespace, Reason: NotListed}
	switch {
	case !served:
		unlisted.Message = "the API server does not serve this type"
	case !v.monitored(gr):
		unlisted.Message = "the API server does not offer to list and watch this type"
	default:
		unlisted.Message = "it was not part of the scan"
	}
	return append(out, unlisted)
}

func (v *View) monitored(gr schema.GroupResource) bool {
	return slices.ContainsFunc(v.types, func(t Type) bool { return t.GroupResource() == gr && t.Monitored() })
}
