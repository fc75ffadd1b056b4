package trust

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Before a finalizer is removed, everything is listed again, but only the types known at the
// start. Dependents of a type that was defined meanwhile lost their owner, and the next run
// deleted them.
func TestFinalizerStaysWhileDependentOfNewTypeExists(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	owner := s.Add(orphaning(Deployments.object("shop", "owner")))
	s.Add(ownedBy(Secrets.object("shop", "known"), referenceTo(owner)))
	var late *unstructured.Unstructured
	s.Once(Sent(http.MethodPatch, Secrets), func() { // when the reference of the known dependent is removed
		s.AddCRD(Widgets)
		late = s.Add(ownedBy(Widgets.object("shop", "late"), referenceTo(owner)))
	})
	u := newUser(t, s)

	u.runs("collect", "--yes").exits(1)
	requireFinalizers(t, s, owner)

	u.runs("collect", "--yes").exits(0)
	requireGone(t, s, owner)
	requireKept(t, s, late)
}
