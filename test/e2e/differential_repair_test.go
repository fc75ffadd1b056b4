package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestDifferentialRepair expects that the real collector keeps repaired objects, unless the plan
// predicts their deletion. Where its runs differ, one that keeps them is enough: a collector that
// starts may orphan the dependents of an owner before it has seen them all, and deletes the others.
func TestDifferentialRepair(t *testing.T) {
	t.Parallel()
	for _, seed := range graphs(t, 1897917971) {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			lost := repairAndCollect(t, seed)
			for again := 0; again < 2 && len(lost) > 0; again++ {
				now := repairAndCollect(t, seed)
				maps.DeleteFunc(lost, func(role, _ string) bool { return now[role] == "" })
			}
			for _, what := range lost {
				t.Error(what)
			}
		})
	}
}

// repairAndCollect repairs a random graph and starts the real collector. It returns, by role, the
// repaired objects that were to stay and did not.
func repairAndCollect(t *testing.T, seed uint64) map[string]string {
	s := withRealCollector.newScene(t)
	defer s.clear()
	g := draw(seed, 220).build(s, 0)[0]
	var plan struct {
		Outcomes []struct{ Object identity }
		Blocked  []struct{ Object identity }
	}
	s.must(json.Unmarshal([]byte(s.gc("repair", "--dry-run", "-o", "json").exits(t, 0).Stdout), &plan))
	kept := map[string]bool{}
	for _, o := range plan.Outcomes {
		kept[o.Object.UID] = true
	}
	for _, b := range plan.Blocked {
		delete(kept, b.Object.UID)
	}
	if len(kept) < 10 {
		t.Fatalf("only %d objects should be repaired and kept", len(kept))
	}
	r := s.gc("repair", "--yes", "--no-backup")
	if r.Code > 1 {
		t.Fatalf("repair exits with %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	r.lacks(t, "failed", "skipped")
	s.gc("repair", "--dry-run").exits(t, 0).shows(t, "Nothing to do")
	repaired := g.state()
	s.switchCollector(testcluster.On)
	defer s.switchCollector(testcluster.Absent)
	left := s.awaitIdle(g)[0]
	lost := map[string]string{}
	for uid, role := range g.members {
		if now := left[role]; kept[string(uid)] && (now.Gone || now.Terminating) {
			lost[role] = fmt.Sprintf("%s %s\n  repaired: %s\n  finally:  %s", role, g.describe(role), repaired[role], now)
		}
	}
	t.Logf("%d objects repaired and kept, %d blocked, %d lost", len(kept), len(plan.Blocked), len(lost))
	return lost
}
