package simulate_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Nothing with a solid owner is deleted, and unknown never counts as absent. Orphaning
// ignores verdicts (docs/gc-semantics.md#orphaning).
func TestTransitionsRespectVerdicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		c := simulateAll(s)
		for i, m := range c.Transitions {
			if m.OrphanedFrom != graph.None {
				continue
			}
			for k, v := range m.Verdicts {
				r := m.StateBefore.Owners[k]
				dropped := slices.Contains(m.Change.Drop, k)
				switch {
				case v != collector.VerdictSolid && v != collector.VerdictWaiting && v != collector.VerdictDangling:
					t.Fatalf("move %d: %s of %s, whose %s is %s", i, m.Action, m.StateBefore, r, v)
				case v == collector.VerdictSolid && (dropped || m.Action != collector.ActionUnlink):
					t.Fatalf("move %d: %s of %s, whose %s is solid", i, m.Action, m.StateBefore, r)
				}
			}
		}
	})
}

// The model updates verdicts and counts with every change. They must equal those of a
// fresh scan of its state, except that such a scan may know less: it cannot tell that a UID
// is gone for good.
func TestModelDecidesAsAFreshScanWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := simulateAll(drawCoherent(t)).Model
		fresh := modelOf(snapshotOf(m))
		for n := range fresh.Graph().Listed() {
			there := graph.Node(n)
			here := m.Graph().Find(fresh.Graph().UID(there))
			want := fresh.Decide(there)
			if diff := cmp.Diff(want, m.Decide(here)); diff != "" && want.NoAction != collector.ReferenceUnknown {
				t.Fatalf("%s: (-fresh +model):\n%s", fresh.Object(there), diff)
			}
		}
	})
}

func TestDecideMayBeCalledConcurrently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := modelOf(drawCoherent(t))
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				for n := range m.Graph().Listed() {
					m.Decide(graph.Node(n))
					m.Verdicts(graph.Node(n))
				}
			})
		}
		group.Wait()
	})
}

func TestSimulateAgainDoesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if again := describe(simulateAll(snapshotOf(simulateAll(drawCoherent(t)).Model))); len(again) > 0 {
			t.Fatal(again)
		}
	})
}

// A scan sorts what it read, so the order of arrival must not matter.
func TestSimulateIgnoresTheOrderOfObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		shuffled := *s
		shuffled.Objects = rapid.Permutation(s.Objects).Draw(t, "objects")
		shuffled.Types = rapid.Permutation(s.Types).Draw(t, "types")
		shuffled.Listed = rapid.Permutation(s.Listed).Draw(t, "listed")
		shuffled.Lookups = rapid.Permutation(s.Lookups).Draw(t, "lookups")
		shuffled.Gaps = rapid.Permutation(s.Gaps).Draw(t, "gaps")
		shuffled.Normalize()
		if diff := cmp.Diff(describe(simulateAll(s)), describe(simulateAll(&shuffled))); diff != "" {
			t.Fatalf("moves (-arrived in order +arrived in another):\n%s", diff)
		}
	})
}

// effects are what a simulation does to each object. A deletion includes everything that
// could be done to the object before.
type effects struct {
	deleted  map[types.UID]bool
	unlinked map[string]bool // UID and reference
}

func effectsOf(c *simulate.Prediction) effects {
	out := effects{map[types.UID]bool{}, map[string]bool{}}
	for _, m := range c.Transitions {
		if m.Action == collector.ActionDelete {
			out.deleted[m.StateBefore.UID] = true
		}
		for _, i := range slices.Concat(m.Change.Drop, m.Change.Unblock) {
			out.unlinked[reference(m, i)] = true
		}
	}
	for n := range c.ContentsDeleted {
		out.deleted[c.Model.Graph().UID(n)] = true
	}
	for n := range c.ContentsPending { // deleted once the Pods beside them are gone
		out.deleted[c.Model.Graph().UID(n)] = true
	}
	return out
}

func reference(m simulate.Transition, i int) string {
	r := m.StateBefore.Owners[i]
	return fmt.Sprint(m.Action, m.StateBefore.UID, r.APIVersion, r.Kind, r.Name, r.UID)
}

// Unknown never leads to a delete, an unlink or a finalizer removal. The one exception: a
// gap may hide an orphaning owner to which the dependent's reference has other coordinates,
// where nothing exists.
func TestGapsAddNoTransitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		if misnamesOrphaning(s) {
			return
		}
		all := effectsOf(simulateAll(s))
		blind := drawGap(t, s)
		for i, m := range simulateAll(blind).Transitions {
			uid := m.StateBefore.UID
			switch {
			case m.Action == collector.ActionRemoveFinalizer, m.OrphanedFrom != graph.None:
				t.Fatalf("move %d: %s of %s, though not everything was seen", i, m.Action, m.StateBefore)
			case all.deleted[uid]:
			case m.Action == collector.ActionDelete:
				t.Fatalf("move %d deletes %s only where less was seen", i, m.StateBefore)
			default:
				for _, k := range slices.Concat(m.Change.Drop, m.Change.Unblock) {
					if !all.unlinked[reference(m, k)] {
						t.Fatalf("move %d: %s of %s in %s only where less was seen", i, m.Action, m.StateBefore.Owners[k], m.StateBefore)
					}
				}
			}
		}
	})
}

// misnamesOrphaning reports whether any reference to an orphaning owner has other
// coordinates.
func misnamesOrphaning(s *snapshot.Snapshot) bool {
	for _, owner := range s.Objects {
		for _, o := range s.Objects {
			if owner.Orphaning() && slices.ContainsFunc(o.Owners, func(r object.Reference) bool {
				return r.UID == owner.UID && !owner.MatchesIdentity(r, o.Namespace)
			}) {
				return true
			}
		}
	}
	return false
}

// drawGap returns the same scan with one type unreadable, everywhere or outside one
// namespace, or one group undiscovered.
func drawGap(t *rapid.T, s *snapshot.Snapshot) *snapshot.Snapshot {
	view := snapshot.NewView(s)
	listed := slices.DeleteFunc(slices.Clone(s.Types), func(typ snapshot.Type) bool {
		return !typ.Monitored() || !view.Listed(typ.GroupResource(), "")
	})
	lost := rapid.SampledFrom(listed).Draw(t, "lost")
	out := *s
	out.Types, out.Listed, out.Gaps = slices.Clone(s.Types), slices.Clone(s.Listed), slices.Clone(s.Gaps)
	sees := func(i object.Identity) bool {
		return i.Kind != lost.Kind || i.GroupVersionKind().Group != lost.Group
	}
	gap := st.Unreadable(lost.String(), snapshot.Forbidden)
	switch rapid.IntRange(0, 3).Draw(t, "gap") {
	case 1:
		gap = st.Unlisted(lost.String())
	case 2:
		if lost.Namespaced {
			gap = func(s *snapshot.Snapshot) {
				st.ListedIn(lost.String(), "a")(s)
				s.Gaps = append(s.Gaps, snapshot.Gap{Group: lost.Group, Resource: lost.Resource, Namespace: "b", Reason: snapshot.Forbidden})
			}
			kind := sees
			sees = func(i object.Identity) bool { return kind(i) || i.Namespace == "a" }
		}
	case 3:
		gap = st.Undiscovered(lost.Group, snapshot.Unavailable)
		sees = func(i object.Identity) bool { return i.GroupVersionKind().Group != lost.Group }
	}
	gap(&out)
	out.Objects, out.Lookups = nil, nil
	for _, o := range s.Objects {
		if o, visible := visibleAs(*o, sees); visible {
			st.Listing(o)(&out)
		}
	}
	for _, l := range s.Lookups {
		m, _ := view.Map(l.APIVersion, l.Kind)
		if sees(object.Identity{APIVersion: m.Type.APIVersion(), Kind: m.Type.Kind, Namespace: l.Namespace}) {
			out.Lookups = append(out.Lookups, l)
		}
	}
	out.Normalize()
	return &out
}

// visibleAs returns the object under the identities that can be seen, if there are any.
func visibleAs(o object.Object, sees func(object.Identity) bool) (object.Object, bool) {
	known := slices.DeleteFunc(append([]object.Identity{o.Identity}, o.Aliases...), func(i object.Identity) bool { return !sees(i) })
	if len(known) == 0 {
		return o, false
	}
	o.Identity, o.Aliases = known[0], known[1:]
	return o, true
}
