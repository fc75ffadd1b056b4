package trust

import (
	"net/http"
	"testing"
)

// Before a finalizer is removed, everything is listed again, but only the types known at the
// start. Dependents of a type that was defined meanwhile lost their owner, and the next run
// deleted them.
func TestFinalizerStaysWhileDependentOfNewTypeExists(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	owner := s.Add(orphaning(Deployments.Object("shop", "owner")))
	s.Add(ownedBy(Secrets.Object("shop", "known"), referenceTo(owner)))
	var late *Object
	s.Once(Sent(http.MethodPatch, Secrets), func() { // when the reference of the known dependent is removed
		s.Add(Widgets.Definition())
		late = s.Add(ownedBy(Widgets.Object("shop", "late"), referenceTo(owner)))
	})
	u := newUser(t, s)

	u.runs("collect", "--yes").exits(1)
	requireFinalizers(t, s, owner)

	u.runs("collect", "--yes").exits(0)
	requireGone(t, s, owner)
	requireKept(t, s, late)
}
