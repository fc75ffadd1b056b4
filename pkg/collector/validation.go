package collector

import "github.com/kubectl-gc/kubectl-gc/pkg/object"

// UpdateRejected reports whether the API server rejects every patch that leaves an object like
// this, whatever was stored before: it validates the metadata as a whole
// (docs/gc-semantics.md#metadata-validation). A DELETE is not validated.
func UpdateRejected(o *object.Object) bool {
	controllers, orphan, foreground := 0, false, false
	for _, r := range o.Owners {
		if r.Controls() {
			controllers++
		}
		if ReferenceRejected(r) {
			return true
		}
	}
	for _, f := range o.Finalizers {
		orphan = orphan || f == object.OrphanFinalizer
		foreground = foreground || f == object.ForegroundFinalizer
	}
	return controllers > 1 || orphan && foreground
}

// ReferenceRejected is UpdateRejected for one reference: whether the API server rejects every patch
// that leaves it on an object.
func ReferenceRejected(r object.Reference) bool {
	return r.APIVersion == "" || r.Kind == "" || r.Name == "" || r.UID == "" || r.APIVersion == "v1" && r.Kind == "Event"
}
