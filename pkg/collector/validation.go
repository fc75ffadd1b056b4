package collector

import "github.com/kubectl-gc/kubectl-gc/pkg/object"

// UpdateRejected reports whether the API server rejects every patch that leaves an object like
// this, whatever was stored before: it validates the metadata as a whole
// (docs/gc-semantics.md#metadata-validation), after it has dropped equal references. A DELETE is
// not validated.
func UpdateRejected(o *object.Object) bool {
	var controller *object.Reference
	for i := range o.Owners {
		r := &o.Owners[i]
		if ReferenceRejected(*r) || r.Controls() && controller != nil && !controller.Equal(*r) {
			return true
		}
		if r.Controls() {
			controller = r
		}
	}
	orphan, foreground := false, false
	for _, f := range o.Finalizers {
		orphan = orphan || f == object.OrphanFinalizer
		foreground = foreground || f == object.ForegroundFinalizer
	}
	return orphan && foreground
}

// ReferenceRejected is UpdateRejected for one reference: whether the API server rejects every patch
// that leaves it on an object.
func ReferenceRejected(r object.Reference) bool {
	return r.APIVersion == "" || r.Kind == "" || r.Name == "" || r.UID == "" || r.APIVersion == "v1" && r.Kind == "Event"
}
