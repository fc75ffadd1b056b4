package explain_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestGoneSinceSaysWhatWasPredictedAndWhatRemains(t *testing.T) {
	doomed := st.ConfigMap("ns/doomed", st.OwnedBy(st.Pod("ns/gone")))
	dependent := st.Secret("ns/dependent", st.OwnedBy(doomed))
	explainer := func(s *snapshot.Snapshot) (*graph.Graph, *explain.Explainer) {
		g := graph.New(s)
		return g, explain.NewExplainer(collector.NewJudge(g))
	}
	g, before := explainer(st.New(st.Listing(doomed, dependent)))
	last := before.Object(g.Find(doomed.UID), explain.EventHistory{})
	_, after := explainer(st.New(st.Listing(dependent)))
	a := after.Gone(last.Object, explain.EventHistory{}, last)
	if want := "ConfigMap/doomed in namespace ns is gone: it was deleted while this command watched it."; a.State != explain.Gone || a.Headline != want {
		t.Errorf("it is %s: %q, want %q", a.State, a.Headline, want)
	}
	got := strings.Join(a.Next, "\n")
	if want := "The last answer before that: The garbage collector will delete ConfigMap/doomed: its only owner, Pod/gone, does not exist.\n1 object still names it as its owner."; got != want {
		t.Errorf("what it says next is %q, want %q", got, want)
	}
	if len(a.Suggestions) != 3 || !strings.Contains(strings.Join(a.Suggestions[0].Command, " "), "why secret/dependent") ||
		!strings.HasSuffix(strings.Join(a.Suggestions[2].Command, " "), "trace configmap/doomed -n ns --audit-log FILE") {
		t.Errorf("it suggests %+v", a.Suggestions)
	}
}
