package cli

import (
	"testing"

	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestResolveTargetsKeepsATypeThatIsNotServedAnyMore(t *testing.T) {
	targets, err := ResolveTargets([]Target{{Word: "pod", Name: "web"}}, st.Types(), "server")
	if err != nil {
		t.Fatal(err)
	}
	later, err := ResolveTargets(targets, nil, "server")
	if err != nil || later[0].String() != "pods/web" {
		t.Errorf("got %v, %v", later, err)
	}
	if _, err := ResolveTargets([]Target{{Word: "pod", Name: "web"}}, nil, "server"); err == nil {
		t.Error("a type that was never served has no error")
	}
}
