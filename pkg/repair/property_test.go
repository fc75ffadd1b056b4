package repair_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// repaired returns the snapshot with every bad reference repaired, including those that only a
// person can decide about.
func repaired(s *snapshot.Snapshot) *snapshot.Snapshot {
	g := graph.New(s)
	m := repair.New(collector.NewJudge(g))
	out := *s
	out.Objects = slices.Clone(s.Objects)
	for n := range g.Listed() {
		var change object.Change
		for i, of := range m.Object(graph.Node(n)) {
			if of.Optional {
				continue
			}
			switch of.Fix {
			case repair.Unlink:
				change.Drop = append(change.Drop, i)
			case repair.Relink, repair.UpdateVersion:
				change.Rewrite = append(change.Rewrite, object.Rewrite{Index: i, Reference: of.Becomes})
			case repair.None:
			}
		}
		after := change.Apply(*s.Objects[n])
		out.Objects[n] = &after
	}
	return &out
}

func TestRepairingEverythingLeavesOnlyUnrepairable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := st.Draw(t)
		if readInTwoStates(before) {
			t.Skip("an owner was read before and after its deletion: the repair of one reference may change that of the other")
		}
		after := repaired(before)
		g := graph.New(after)
		judge := collector.NewJudge(g)
		for n := range g.Listed() {
			o := g.Object(graph.Node(n))
			for i, m := range repair.New(judge).Object(graph.Node(n)) {
				j := judge.Reference(graph.Edge{Node: graph.Node(n), Index: i})
				if m.Fix != repair.None && !m.Optional {
					t.Fatalf("%s, reference to %s: mended, and %s again", o, o.Owners[i], m.Fix)
				}
				if j.Verdict == collector.VerdictUnresolvable && j.Cause != collector.CauseUnservedVersion && !o.Terminating() {
					t.Fatalf("%s, reference to %s: %s", o, o.Owners[i], j.Verdict)
				}
			}
		}
		if diff := cmp.Diff(after.Objects, repaired(after).Objects); diff != "" {
			t.Fatalf("mending twice is not mending once:\n%s", diff)
		}
	})
}

// readInTwoStates reports whether two lookups found one object, and only one of them shows that it is
// being deleted.
func readInTwoStates(s *snapshot.Snapshot) bool {
	terminating := map[types.UID]bool{}
	for _, l := range s.Lookups {
		if l.Object == nil {
			continue
		}
		if before, known := terminating[l.Object.UID]; known && before != l.Object.Terminating() {
			return true
		}
		terminating[l.Object.UID] = l.Object.Terminating()
	}
	return false
}

func TestSolidReferencesAreKeptAndRewritesAreSolid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		g := graph.New(s)
		judge := collector.NewJudge(g)
		m := repair.New(judge)
		for n := range g.Listed() {
			node := graph.Node(n)
			for i, of := range m.Object(node) {
				r := g.Object(node).Owners[i]
				switch v := judge.Reference(graph.Edge{Node: node, Index: i}).Verdict; {
				case of.Optional && (v != collector.VerdictSolid || of.Fix != repair.UpdateVersion || of.Becomes.UID != r.UID):
					t.Fatalf("%s of a reference to %s that is %s is optional", of.Fix, r, v)
				case of.Fix != repair.None && !of.Optional && (v == collector.VerdictSolid || v == collector.VerdictWaiting || v == collector.VerdictUnknown):
					t.Fatalf("%s of a reference to %s that is %s", of.Fix, r, v)
				case of.Becomes.UID == "":
				case judge.Hypothetical(node, of.Becomes).Verdict != collector.VerdictSolid:
					t.Fatalf("%s of the reference to %s makes it %s", of.Fix, r, judge.Hypothetical(node, of.Becomes).Verdict)
				case r.WithOwner(of.Becomes) != of.Becomes:
					t.Fatalf("%s of the reference to %s changes its flags", of.Fix, r)
				}
			}
		}
	})
}

func TestRepairClosesNoCycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := st.DrawBusy(t)
		after := repaired(before)
		in := map[object.Identity]bool{}
		for _, o := range cyclic(before) {
			in[o] = true
		}
		for _, o := range cyclic(after) {
			if !in[o] {
				t.Fatalf("%s is in a circle now", o)
			}
		}
	})
}

// cyclic returns the objects that own each other through references that resolve.
func cyclic(s *snapshot.Snapshot) []object.Identity {
	g := graph.New(s)
	judge := collector.NewJudge(g)
	var out []object.Identity
	for _, circle := range g.Cycles(func(e graph.Edge) bool {
		v := judge.Reference(e).Verdict
		return v == collector.VerdictSolid || v == collector.VerdictWaiting
	}) {
		for _, n := range circle {
			out = append(out, g.Object(n).Identity)
		}
	}
	return out
}
