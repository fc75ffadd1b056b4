package trust

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

func TestACollectorWithoutEachRightToItsLeaseEndsBeforeItWaits(t *testing.T) {
	for _, verb := range []string{"get", "create", "patch"} {
		t.Run(verb, func(t *testing.T) {
			s := NewServer(t)
			s.Serve(apiserver.Namespaced("coordination.k8s.io", "leases", "Lease"))
			deniesRight(s, verb)
			r := newUser(t, s).runs("controller", "--yes", "--allow-running-collector").exits(1)
			if want := "you are not allowed to " + verb + " leases.coordination.k8s.io in namespace kube-system"; !strings.Contains(r.stderr, want) {
				t.Errorf("it does not say %q: %s", want, r.stderr)
			}
			if writes := s.Writes(); len(writes) > 0 {
				t.Errorf("it sends %v", writes)
			}
		})
	}
}
