package explain_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// What keeps a deletion is said of the object that it is true of, by why and by audit.
func TestABlockedDeletionNamesWhatIsInTheWay(t *testing.T) {
	deleted := st.Secret("ns/deleted", st.Terminating(object.OrphanFinalizer))
	one, other := st.Pod("ns/one"), st.Pod("ns/other")
	controlled := st.Secret("ns/deleted", st.Terminating(object.OrphanFinalizer), st.Owned(st.To(one, st.Controlling), st.To(other, st.Controlling)))
	orphan := st.ConfigMap("ns/orphan", st.Owned(st.To(deleted), st.To(one, st.Controlling), st.To(other, st.Controlling)))
	for name, c := range map[string]struct {
		objects     []object.Object
		why, report string
	}{
		"the object itself": {
			[]object.Object{controlled, one, other}, "), and the deletion never completes: it cannot be changed: the API server rejects every update of its metadata", "it is being deleted, and cannot be changed: ",
		},
		"an orphan that has two controllers": {
			[]object.Object{deleted, orphan, one, other},
			"), and the deletion never completes: it is blocked by ConfigMap/orphan, which cannot be changed: the API server rejects every update of its metadata",
			"it is being deleted, and is blocked by ConfigMap/orphan, which cannot be changed: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New(st.New(st.Listing(c.objects...)))
			a := explain.NewExplainer(collector.NewJudge(g)).Object(g.Find(deleted.UID), explain.EventHistory{})
			if a.Consequence != collector.ConsequenceStuck || !strings.Contains(a.Headline, c.why) {
				t.Errorf("why says %s: %s", a.Consequence, a.Headline)
			}
			r, err := audit.Run(collector.NewJudge(g), audit.Filter{Rules: []string{"blocked-deletion"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) != 1 || r.Findings[0].Consequence != collector.ConsequenceStuck || !strings.HasPrefix(r.Findings[0].Reason.Message(), c.report) {
				t.Errorf("audit reports %+v", r.Findings)
			}
		})
	}
}
