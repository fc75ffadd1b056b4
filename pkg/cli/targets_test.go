package cli

import (
	"testing"

	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestResolveTargetsRefusesATypeThatIsNotServed(t *testing.T) {
	targets := []Target{{Word: "pod", Name: "web"}}
	if err := ResolveTargets(targets, nil, "server"); err == nil {
		t.Error("a type that is not served has no error")
	}
	if err := ResolveTargets(targets, st.Types(), "server"); err != nil || targets[0].String() != "pods/web" {
		t.Errorf("got %v, %v", targets, err)
	}
}
