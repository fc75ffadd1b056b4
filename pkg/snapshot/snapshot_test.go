package snapshot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestGapString(t *testing.T) {
	tests := map[string]snapshot.Gap{
		"all other types":                          {Group: snapshot.All, Resource: snapshot.All},
		"API group metrics.k8s.io":                 {Group: "metrics.k8s.io", Resource: snapshot.All},
		"API group core":                           {Resource: snapshot.All},
		"secrets in other namespaces":              {Resource: "secrets", Namespace: snapshot.All},
		"secrets":                                  {Resource: "secrets"},
		"secrets in namespace shop":                {Resource: "secrets", Namespace: "shop"},
		"widgets.example.com":                      {Group: "example.com", Resource: "widgets"},
		"widgets.example.com in namespace kube-ns": {Group: "example.com", Resource: "widgets", Namespace: "kube-ns"},
	}
	for want, gap := range tests {
		if got := gap.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSort(t *testing.T) {
	s := &snapshot.Snapshot{
		Types: []snapshot.Type{
			{Group: "b"}, {Group: "a", Resource: "b"}, {Group: "a", Resource: "a", Version: "v2"}, {Group: "a", Resource: "a", Version: "v1"},
		},
		Listed:  []snapshot.Listing{{Resource: "b"}, {Resource: "a", Namespace: "y"}, {Resource: "a", Namespace: "x"}, {Resource: "a"}},
		Gaps:    []snapshot.Gap{{Resource: "b"}, {Resource: "a", Reason: "y"}, {Resource: "a", Reason: "x", Message: "z"}, {Resource: "a", Reason: "x"}},
		Lookups: []snapshot.Lookup{{Coordinates: snapshot.Coordinates{Kind: "Pod", Name: "b"}}, {Coordinates: snapshot.Coordinates{Kind: "Pod", Name: "a"}}, {Coordinates: snapshot.Coordinates{Kind: "Node", Name: "z"}}},
	}
	st.Listing(st.Pod("shop/b"), st.Pod("shop/a"), st.Node("z"), st.Pod("a/z"))(s)
	want := &snapshot.Snapshot{
		Types: st.Reversed(s.Types), Listed: st.Reversed(s.Listed), Gaps: st.Reversed(s.Gaps), Lookups: st.Reversed(s.Lookups),
	}
	st.Listing(st.Node("z"), st.Pod("a/z"), st.Pod("shop/a"), st.Pod("shop/b"))(want)
	s.Normalize()
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}
