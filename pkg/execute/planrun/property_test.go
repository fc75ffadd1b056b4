package planrun_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// newCollectPlan returns the plan of one collection pass over a snapshot.
func newCollectPlan(s *snapshot.Snapshot) (*plan.Plan, *graph.Graph) {
	g := graph.New(s)
	return plan.New(collector.NewJudge(g), plan.CollectPurpose(nil)), g
}

// drawCluster draws the snapshot of a consistent cluster: it removes the contradictions
// between the lists and lookups of snapshottest.Draw.
func drawCluster(t *rapid.T) *snapshot.Snapshot {
	s := st.Draw(t)
	view := snapshot.NewView(s)
	place := func(apiVersion, kind, namespace, name string) string {
		m, _ := view.Map(apiVersion, kind)
		return m.Type.String() + " " + namespace + "/" + name
	}
	occupied, used := map[string]bool{}, map[types.UID]bool{}
	for _, o := range s.Objects {
		used[o.UID] = true
		for _, i := range append([]object.Identity{o.Identity}, o.Aliases...) {
			occupied[place(i.APIVersion, i.Kind, i.Namespace, i.Name)] = true
		}
	}
	first := map[string]snapshot.Lookup{}
	var lookups []snapshot.Lookup
	for _, l := range s.Lookups {
		at := place(l.APIVersion, l.Kind, l.Namespace, l.Name)
		if occupied[at] {
			continue // the lists decide
		}
		known, seen := first[at]
		if !seen {
			if l.Object != nil && used[l.Object.UID] { // it has other coordinates
				l.Outcome, l.Object = snapshot.Absent, nil
			}
			if l.Object != nil {
				used[l.Object.UID] = true
			}
			first[at], known = l, l
		}
		known.Coordinates = l.Coordinates
		lookups = append(lookups, known)
	}
	for _, c := range view.UnverifiedOwners(s.Objects, func(types.UID) *object.Object { return nil }) {
		if l, known := first[place(c.APIVersion, c.Kind, c.Namespace, c.Name)]; known {
			l.Coordinates = c
			lookups = append(lookups, l)
		}
	}
	s.Lookups = lookups
	s.Normalize()
	return s
}

// describeStates describes the present state of every listed object.
func describeStates(of func(types.UID) *object.Object, s *snapshot.Snapshot) []string {
	var out []string
	for i := range s.Objects {
		uid := s.Objects[i].UID
		o := of(uid)
		if o == nil {
			out = append(out, fmt.Sprintf("%s gone", uid))
			continue
		}
		line := fmt.Sprintf("%s terminating=%v finalizers=%v", uid, o.Terminating(), o.Finalizers)
		for _, r := range o.Owners {
			line += fmt.Sprintf(" %s/%s=%s,%v", r.APIVersion, r, r.UID, r.Blocks())
		}
		out = append(out, line)
	}
	return out
}

func (f *fakeServer) state(uid types.UID) *object.Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.copy(uid)
}

func TestRunEndsAsPredicted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t)
		f := newFakeServer(s)
		p, g := newCollectPlan(s)
		backup := &fakeBackup{server: f}
		report := planrun.Run(t.Context(), p, collector.NewJudge(g), f, backup, planrun.RunOptions{
			Common: execute.Tuning{Concurrency: rapid.IntRange(1, 5).Draw(t, "concurrency")},
		})
		deletesContents := slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
			return s.Action == plan.ActionDelete && (s.Object.Kind == "Namespace" || s.Object.Kind == "CustomResourceDefinition")
		})
		for i, r := range report.Results {
			if r.Status != event.Done && (!deletesContents || r.Status == event.Failed) || r.Status == event.Done && r.Reason != nil {
				t.Fatalf("%s %s of %s: %+v", p.Steps[i].ID, p.Steps[i].Action, p.Steps[i].Object.Identity, r)
			}
		}
		model := simulate.Run(collector.NewJudge(g), simulate.Own, simulate.Bounds{}).Model
		predicted := func(uid types.UID) *object.Object { return model.Object(g.Find(uid)) }
		if diff := cmp.Diff(describeStates(predicted, s), describeStates(f.state, s), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("predicted (-) and actual (+):\n%s", diff)
		}
		if again, _ := newCollectPlan(f.scan()); len(again.Steps) > 0 {
			t.Fatalf("a second pass would %s %s: %s", again.Steps[0].Action, again.Steps[0].Object.Identity, again.Steps[0].Reason.Message())
		}
	})
}

// Whatever others change and whatever fails meanwhile, no object is deleted that may have
// an existing owner, or that was not backed up in its last state.
func TestRunDeletesOnlyProvenAndBackedUpObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCluster(t)
		f := newFakeServer(s)
		p, g := newCollectPlan(s)
		backup := &fakeBackup{server: f}
		chaos := chaos{server: f, backup: backup, seeds: rapid.SliceOfN(rapid.IntRange(0, 39), 200, 200).Draw(t, "faults"), concurrency: rapid.IntRange(1, 4).Draw(t, "concurrency")}
		f.before = chaos.interfere
		report := planrun.Run(t.Context(), p, collector.NewJudge(g), f, backup, planrun.RunOptions{Common: execute.Tuning{Concurrency: chaos.concurrency}})
		for i, r := range report.Results {
			if r.Status == "" {
				t.Fatalf("step %s has no result", p.Steps[i].ID)
			}
		}
		if len(chaos.wrong) > 0 {
			t.Fatal(chaos.wrong)
		}
	})
}

// chaos acts as other clients and an unreliable network.
type chaos struct {
	server      *fakeServer
	backup      *fakeBackup
	concurrency int
	seeds       []int

	mu    sync.Mutex
	wrong []string
}

// interfere acts before a request. It changes other objects than that of the request only
// where no decision has been made on them: no precondition would detect that.
func (c *chaos) interfere(at call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seeds) == 0 {
		return c.check(at)
	}
	seed := c.seeds[0]
	c.seeds = c.seeds[1:]
	uid := at.at.UID
	switch seed {
	case 0:
		return classified{snapshot.Forbidden}
	case 1:
		return classified{snapshot.Unavailable}
	case 2:
		return errors.New("connection reset")
	case 3, 4, 5:
		c.server.edit(uid, func(*object.Object) {})
	case 6:
		c.server.edit(uid, nil)
	case 7:
		c.server.edit(uid, func(o *object.Object) { o.Finalizers = append(slices.Clone(o.Finalizers), "chaos/hold") })
	case 8, 9:
		if at.verb != "read" { // only owners are read
			c.own(uid, st.ConfigMap("a/x"))
		}
	case 10:
		if at.verb != "read" {
			c.own(uid, st.Pod("a/x"), st.As("v9", "Unknown"))
		}
	case 11:
		if at.verb == "read" && c.concurrency == 1 { // it becomes solid
			c.server.edit(uid, func(o *object.Object) { o.Finalizers = []string{"chaos/hold"} })
		}
	case 12:
		if at.verb == "relist" {
			return classified{snapshot.TimedOut}
		}
	}
	return c.check(at)
}

// own adds an owner to an object: a listed one of that kind, if there is one.
func (c *chaos) own(uid types.UID, like object.Object, edits ...st.Edit) {
	c.server.edit(uid, func(o *object.Object) {
		for _, owner := range c.server.uids() {
			if there := c.server.objects[owner]; there != nil && there.Kind == like.Kind && there.Namespace == o.Namespace {
				o.Owners = append(slices.Clone(o.Owners), st.To(*there, edits...))
				return
			}
		}
	})
}

// check judges a DELETE that will be accepted by the complete present state.
func (c *chaos) check(at call) error {
	there := c.server.state(at.at.UID)
	if at.verb != "delete" || there == nil || there.ResourceVersion != at.rv {
		return nil
	}
	g := graph.New(c.server.scan())
	n := g.Find(at.at.UID)
	for i, j := range collector.NewJudge(g).Object(n) {
		owner := there.Owners[i].UID
		if c.server.initial[owner] != "" && c.server.state(owner) == nil {
			continue // a UID is never reused, and the run may know that it is gone
		}
		if j.Verdict != collector.VerdictDangling && j.Verdict != collector.VerdictWaiting || j.NamesListKind() {
			c.wrong = append(c.wrong, fmt.Sprintf("%s although %s is %s", at, there.Owners[i], j.Verdict))
		}
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if !c.backup.has(at.at.UID, at.rv) {
		c.wrong = append(c.wrong, at.String()+" in a state that was not backed up")
	}
	return nil
}
