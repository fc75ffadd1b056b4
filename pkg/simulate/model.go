package simulate

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Model is a graph in motion: the state of every object as the acts of the
// collector change it. It starts as the snapshot saw things. A simulation moves
// it on by what the API server would make of an act; who really acts, by what
// the server answered. It is not safe for concurrent use.
type Model struct {
	graph *graph.Graph
	judge *collector.Judge
	actor collector.Actor
	whole bool
	taken time.Time
	// acting reports that the model decides what this program does, and not only predicts
	// what a collector does.
	acting   bool
	accepted snapshot.AcceptedGaps // of which an acting model takes no notice
	hidden   map[graph.Node]bool   // whether the contents of an object are unknown; see contentsUnknown

	now      []*object.Object      // per observed node; nil: gone
	verdicts [][]collector.Verdict // per observed node, as judged; nil: not judged yet

	// Counted by UID, over the references of objects that a list showed.
	dependents, blockers, deleting []int32
	// begun are the objects that are, or were, in a foreground deletion: to the
	// collector that is a one-way trip (docs/gc-semantics.md#graph).
	begun graph.Set

	// What one decision rests on, and no longer than until the next.
	judgements []collector.Judgement
	weighed    []collector.Verdict

	// touched is told of every node whose decision may have become another, and
	// moved of every node whose state has, with what it was.
	touched func(graph.Node)
	moved   func(n graph.Node, old *object.Object)
}

func newModel(g *graph.Graph, j *collector.Judge) *Model {
	m := &Model{
		graph: g, judge: j, whole: wholeView(g, nil), taken: g.Snapshot().Taken,
		touched: func(graph.Node) {}, moved: func(graph.Node, *object.Object) {},
	}
	for n := graph.Node(0); g.Object(n) != nil; n++ {
		m.now = append(m.now, g.Object(n))
	}
	m.verdicts = make([][]collector.Verdict, len(m.now))
	m.dependents = make([]int32, g.Len())
	m.blockers = make([]int32, g.Len())
	m.begun = graph.NewSet(g)
	m.deleting = make([]int32, g.Len())
	for n := range g.Listed() {
		m.count(graph.Node(n), m.now[n], 1)
	}
	return m
}

// wholeView says whether every object that could depend on another was seen:
// all monitored types, everywhere, save for the gaps that were accepted.
func wholeView(g *graph.Graph, accepted snapshot.AcceptedGaps) bool {
	for _, gap := range g.Snapshot().Gaps {
		if gap.Name == "" && !accepted.Covers(gap) {
			return false
		}
	}
	for _, t := range g.Snapshot().Types {
		if t.Monitored() && !g.View().Listed(t.GroupResource(), "") && !accepted.Covers(snapshot.Gap{Group: t.Group, Resource: t.Resource}) {
			return false
		}
	}
	return true
}

// Graph is what the model started from.
func (m *Model) Graph() *graph.Graph { return m.graph }

// Complete says whether all dependents that there may be were seen.
func (m *Model) Complete() bool { return m.whole }

// Object is the state of a node, nil where it is gone or was never seen. It
// must not be changed.
func (m *Model) Object(n graph.Node) *object.Object {
	if n < 0 || int(n) >= len(m.now) {
		return nil
	}
	return m.now[n]
}

// Changed says whether the node is in another state than the snapshot saw.
func (m *Model) Changed(n graph.Node) bool { return m.Object(n) != m.graph.Object(n) }

// Verdicts are those on the references of a node in its present state: an owner
// that went is dangling, since its UID never comes back; one that is about to
// orphan the node is solid, whatever else the reference says, until it has
// (docs/gc-semantics.md#orphaning).
func (m *Model) Verdicts(n graph.Node) []collector.Verdict {
	o := m.Object(n)
	if o == nil {
		return nil
	}
	return m.appendVerdicts(make([]collector.Verdict, 0, len(o.Owners)), n)
}

func (m *Model) appendVerdicts(to []collector.Verdict, n graph.Node) []collector.Verdict {
	for i, v := range m.judged(n) {
		to = append(to, m.standing(v, m.graph.Find(m.now[n].Owners[i].UID)))
	}
	return to
}

// standing is what has become of a verdict on a reference to that owner.
func (m *Model) standing(v collector.Verdict, owner graph.Node) collector.Verdict {
	switch now := m.Object(owner); {
	case v != collector.Solid && v != collector.Waiting && v != collector.Dangling:
	case now != nil && now.Orphaning() && int(owner) < m.graph.Listed():
		return collector.Solid
	case m.graph.Object(owner) != nil && m.graph.Object(owner).Contested: // what becomes of one of the objects says nothing about the others
	case v != collector.Dangling && now != nil && now.DeletingDependents(): // as the judge says of one that was only looked up
		return collector.Waiting
	case v != collector.Dangling && m.Changed(owner):
		return sight(now)
	}
	return v
}

// judged are the verdicts in the state that the snapshot saw, or that was last
// learned.
func (m *Model) judged(n graph.Node) []collector.Verdict {
	if m.verdicts[n] == nil {
		m.judgements = m.judge.Append(m.judgements[:0], n)
		m.verdicts[n] = m.withholding(m.judgements)
	}
	return m.verdicts[n]
}

// withholding are the verdicts to act on: where the collector errs, none of ours. An
// owner that waits is read again before its dependent is deleted, which cannot be done
// by a contested UID.
func (m *Model) withholding(judgements []collector.Judgement) []collector.Verdict {
	out := collector.Verdicts(judgements)
	for i, j := range judgements {
		if m.actor == collector.ActorClient && (j.Withheld() || j.Verdict == collector.Waiting && j.Holder.Contested) {
			out[i] = collector.Unknown
		}
	}
	return out
}

// Decide is what the collector would do with a node now.
func (m *Model) Decide(n graph.Node) collector.Decision {
	o := m.Object(n)
	s := collector.DecisionInput{Object: o, Complete: m.whole, Actor: m.actor}
	if o != nil {
		s.Dependents, s.Blockers, s.Deleting = int(m.dependents[n]), int(m.blockers[n]), int(m.deleting[n])
		if !o.Terminating() {
			m.weighed = m.appendVerdicts(m.weighed[:0], n)
			s.Verdicts = m.weighed
			s.DeletedBeforeOwner = !m.whole && m.holdsUp(o, s.Verdicts)
			s.ContentsUnknown = m.contentsUnknown(n)
		}
	}
	return collector.Decide(s)
}

// holdsUp says whether an object goes before one of its owners, which waits.
func (m *Model) holdsUp(o *object.Object, verdicts []collector.Verdict) bool {
	for i, v := range verdicts {
		if v != collector.Waiting {
			continue
		}
		owner := m.graph.Object(m.graph.Find(o.Owners[i].UID))
		if owner != nil && goesBefore(o, o.Owners[i], owner.DeletingDependents()) {
			return true
		}
	}
	return false
}

// contentsUnknown reports whether not everything was listed that the deletion of n takes
// along, in a model that acts.
func (m *Model) contentsUnknown(n graph.Node) bool {
	if !m.acting || !takesAlong(m.now[n]) {
		return false
	}
	unknown, asked := m.hidden[n]
	if !asked {
		unknown = len(m.ContentsGaps(n)) > 0
		m.hidden[n] = unknown
	}
	return unknown
}

// ContentsGaps returns what may hide objects that the deletion of n takes along, save for
// the gaps that were accepted.
func (m *Model) ContentsGaps(n graph.Node) []snapshot.Gap {
	return m.graph.View().ContentsGaps(m.graph.Object(n).Identity, m.accepted)
}

// HasOrphanedDependents is how a dependent is detached from an owner that is being orphaned:
// it loses every reference with the owner's UID, whatever else they say
// (docs/gc-semantics.md#orphaning). The act is Leave where there is nothing to
// do, or not any more.
func (m *Model) HasOrphanedDependents(owner, dependent graph.Node) collector.Decision {
	o := m.Object(dependent)
	if o == nil {
		return collector.Decision{NoAction: collector.ObjectGone}
	}
	var drop []int
	for i, r := range o.Owners {
		if m.graph.Find(r.UID) == owner {
			drop = append(drop, i)
		}
	}
	if len(drop) == 0 || m.Decide(owner).Action != collector.ActionOrphanDependents {
		return collector.Decision{NoAction: collector.AllOwnersSolid}
	}
	return collector.Decision{Action: collector.ActionUnlink, Change: object.Change{Drop: drop}}
}

// Apply moves a node on by what the API server makes of a decision.
func (m *Model) Apply(n graph.Node, d collector.Decision) {
	o := m.Object(n)
	switch d.Action {
	case collector.ActionDelete:
		m.SetState(n, Deleted(o, d.Policy, m.taken))
	case collector.ActionUnlink, collector.ActionUnblock, collector.ActionRemoveFinalizer:
		m.SetState(n, Patched(o, d.Change))
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
}

// SetState moves a node on to a state that its own decision led to: nil is gone.
// References may have been dropped from it, but none added and none reordered.
func (m *Model) SetState(n graph.Node, next *object.Object) {
	if now := m.now[n]; now != nil && next != nil && len(next.Owners) != len(now.Owners) {
		m.verdicts[n] = remaining(now, next, m.judged(n))
	}
	m.move(n, next)
}

// SetObserved puts a node into a state that was read anew, whatever it was before,
// with judgements on its references that are as fresh; nil is gone.
func (m *Model) SetObserved(n graph.Node, next *object.Object, judgements []collector.Judgement) {
	m.verdicts[n] = nil
	if next != nil {
		m.verdicts[n] = m.withholding(judgements)
	}
	m.move(n, next)
}

// remaining are the verdicts of those references that are still there.
func remaining(before, after *object.Object, verdicts []collector.Verdict) []collector.Verdict {
	out := make([]collector.Verdict, 0, len(after.Owners)) // nil would mean: not judged
	next := 0
	for i, r := range before.Owners {
		if next < len(after.Owners) && r.SameOwner(after.Owners[next]) {
			out = append(out, verdicts[i])
			next++
		}
	}
	return out
}

func (m *Model) move(n graph.Node, next *object.Object) {
	old := m.now[n]
	m.count(n, old, -1)
	m.now[n] = next
	m.count(n, next, 1)
	if sight(old) != sight(next) || orphaning(old) != orphaning(next) {
		for _, e := range m.graph.Dependents(n) {
			m.touched(e.Node)
		}
	}
	if old != nil {
		for _, r := range old.Owners {
			if owner := m.graph.Find(r.UID); m.finishing(owner) {
				m.touched(owner)
			}
		}
	}
	if next != nil {
		m.touched(n)
	}
	m.moved(n, old)
}

// finishing says whether a node waits for its dependents.
func (m *Model) finishing(n graph.Node) bool {
	o := m.Object(n)
	return o != nil && o.Finishing()
}

func orphaning(o *object.Object) bool { return o != nil && o.Orphaning() }

// sight is what an object's dependents see of it. One with both of the
// collector's finalizers orphans first, and is solid until it has
// (docs/gc-semantics.md#orphaning).
func sight(o *object.Object) collector.Verdict {
	switch {
	case o == nil:
		return collector.Dangling
	case o.DeletingDependents() && !o.Orphaning():
		return collector.Waiting
	}
	return collector.Solid
}

// count adds an object's references to what its owners' deletions rest on.
// Objects that were only looked up are of kinds that the collector does not
// watch, or out of sight: they hold nothing up.
func (m *Model) count(n graph.Node, o *object.Object, by int32) {
	if o == nil || int(n) >= m.graph.Listed() {
		return
	}
	if o.DeletingDependents() {
		m.begun.Add(n)
	}
	deleting := m.begun.Has(n)
	for _, r := range o.Owners {
		owner := m.graph.Find(r.UID)
		if owner == graph.None { // learned later than the graph was built
			continue
		}
		m.dependents[owner] += by
		if r.Blocks() {
			m.blockers[owner] += by
		}
		if deleting {
			m.deleting[owner] += by
		}
	}
}
