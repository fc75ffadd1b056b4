package trust

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Before a finalizer is removed, everything is listed again, but only the types known at
// first. The dependents of a type that was defined meanwhile lost their owner, and the next
// run deleted them.
func TestAFinalizerStaysWhileADependentOfANewTypeHasIt(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	owner := s.Add(orphaning(Deployments.object("shop", "owner")))
	s.Add(owned(Secrets.object("shop", "known"), of(owner)))
	var late *unstructured.Unstructured
	s.Once(Sent(http.MethodPatch, Secrets), func() { // the reference of the known one is removed
		s.AddCRD(Widgets)
		late = s.Add(owned(Widgets.object("shop", "late"), of(owner)))
	})
	u := newUser(t, s)

	u.runs("collect", "--yes").exits(1)
	keepsFinalizers(t, s, owner)

	u.runs("collect", "--yes").exits(0)
	goes(t, s, owner)
	stays(t, s, late)
}
