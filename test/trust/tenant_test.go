package trust

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// Names of RBAC objects may hold any text but "/" and "%".
func TestOneNameLeavesItsTypeReadable(t *testing.T) {
	t.Parallel()
	roles := apiserver.Namespaced("rbac.authorization.k8s.io", "roles", "Role")
	s := NewServer(t)
	s.Serve(roles)
	s.Add(roles.Object("shop", "\uFFFD"))
	s.Add(roles.Object("shop", "\xff"))
	owner := s.Add(orphaning(Deployments.Object("shop", "web")))

	u := newUser(t, s)
	if d := u.runs("audit", "--strict", "-o", "json").exits(0).read(); !d.Complete {
		t.Errorf("gaps %v", d.Gaps)
	}
	u.runs("collect", "--yes").exits(0)
	if now := s.Now(owner); now != nil {
		t.Errorf("%s is still there, with finalizers %v", now.Name, now.Finalizers)
	}
}
