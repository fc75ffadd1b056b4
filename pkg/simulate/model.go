package simulate

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Model is the state of every object of a graph. It starts with the snapshot's state;
// Apply, SetState and SetObserved change it. Its other methods are safe for concurrent
// use as long as nothing changes it.
type Model struct {
	graph     *graph.Graph
	judge     *collector.Judge
	predictor Predictor
	// requested reports that somebody requested changes. Then the cluster's own collector is taken to know every dependent
	// of what goes, also those that the scan could not list: otherwise a preview would keep what is deleted.
	requested bool
	taken     time.Time
	// These are computed on first use: whether every possible dependent was listed, and the indexes of
	// contents and of users.
	complete func() bool
	contents func() *contentsIndex
	users    func() *usersIndex

	now      []*object.Object      // per observed node; nil: gone
	verdicts [][]collector.Verdict // per observed node, see judged; nil: not kept

	// Counts of references by owner, over the listed objects.
	dependents, blockers, deleting []int32
	// begun reports, per node, whether it is or was in foreground deletion: the collector
	// never takes that mark back (docs/gc-semantics.md#graph).
	begun []bool
	due   map[graph.Node]string // dueFinalizers

	simulation *simulation // learns of changes; nil unless it is running
}

// NewModel returns a model in the snapshot's state.
func NewModel(j *collector.Judge, p Predictor) *Model {
	g := j.Graph()
	m := &Model{
		graph: g, judge: j, predictor: p, taken: g.Snapshot().Taken,
		dependents: make([]int32, g.Len()), blockers: make([]int32, g.Len()), deleting: make([]int32, g.Len()), begun: make([]bool, g.Len()),
	}
	for n := graph.Node(0); g.Object(n) != nil; n++ {
		m.now = append(m.now, g.Object(n))
	}
	m.verdicts = make([][]collector.Verdict, len(m.now))
	m.contents = sync.OnceValue(func() *contentsIndex { return newContentsIndex(g) })
	m.users = sync.OnceValue(func() *usersIndex { return newUsersIndex(g) })
	m.complete = sync.OnceValue(func() bool {
		return p.cluster() && m.requested || dependentsListed(g, p.Accepted)
	})
	for n := range g.Listed() {
		m.count(graph.Node(n), m.now[n], 1)
	}
	m.due = m.dueFinalizers()
	return m
}

// dependentsListed reports whether every possible dependent was listed: all monitored
// types in all namespaces, except for accepted gaps and for the objects of namespaces that are
// too large, which only Model.Complete knows to matter.
func dependentsListed(g *graph.Graph, accepted snapshot.AcceptedGaps) bool {
	for _, gap := range g.Snapshot().Gaps {
		if gap.Name == "" && gap.Reason != snapshot.TooLarge && !accepted.Covers(gap) {
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

// clone returns a model that changes independently of m.
func (m *Model) clone() *Model {
	out := *m
	out.now, out.verdicts = slices.Clone(m.now), slices.Clone(m.verdicts)
	out.dependents, out.blockers, out.deleting = slices.Clone(m.dependents), slices.Clone(m.blockers), slices.Clone(m.deleting)
	out.begun = slices.Clone(m.begun)
	return &out
}

// Graph returns the graph that the model was built from.
func (m *Model) Graph() *graph.Graph { return m.graph }

// Judge returns the judge of the graph.
func (m *Model) Judge() *collector.Judge { return m.judge }

// Complete reports whether every possible dependent of an object in that namespace was listed. An owner in a namespace
// has no dependents in others: the collector deletes these, whether the owner exists or not.
func (m *Model) Complete(namespace string) bool {
	return m.complete() && !slices.ContainsFunc(m.graph.Snapshot().Gaps, func(g snapshot.Gap) bool {
		return g.Reason == snapshot.TooLarge && (namespace == "" || namespace == g.Namespace)
	})
}

// Object returns the state of a node, or nil if it is gone or was never seen. Callers
// must not change it.
func (m *Model) Object(n graph.Node) *object.Object {
	if n < 0 || int(n) >= len(m.now) {
		return nil
	}
	return m.now[n]
}

// actsOn reports whether the collector processes an object that exists. The cluster's own
// collector also processes the owners of kinds that it does not watch, as long as they are not
// terminating: it polls them (docs/gc-semantics.md#virtual-owners).
func (m *Model) actsOn(n graph.Node) bool {
	o := m.Object(n)
	if o == nil || int(n) < m.graph.Listed() {
		return o != nil
	}
	return m.predictor.cluster() && !o.Terminating() && m.graph.KnownToCollector(n)
}

// Changed reports whether the state of a node differs from the snapshot's.
func (m *Model) Changed(n graph.Node) bool { return m.Object(n) != m.graph.Object(n) }

// Verdicts returns the verdicts on the references of a node in its present state. An
// owner that is gone is dangling, since UIDs are never used again. An owner that is
// about to orphan the node is solid, whatever else the reference says
// (docs/gc-semantics.md#orphaning).
func (m *Model) Verdicts(n graph.Node) []collector.Verdict {
	o := m.Object(n)
	if o == nil {
		return nil
	}
	out := slices.Clone(m.judged(n))
	for i, v := range out {
		out[i] = m.currentVerdict(v, m.graph.Find(o.Owners[i].UID))
	}
	return out
}

// currentVerdict updates a verdict of judged for the owner's present state.
func (m *Model) currentVerdict(v collector.Verdict, owner graph.Node) collector.Verdict {
	first := m.graph.Object(owner)
	switch now := m.Object(owner); {
	case v != collector.VerdictSolid && v != collector.VerdictWaiting && v != collector.VerdictDangling:
	case now != nil && now.Orphaning() && int(owner) < m.graph.Listed():
		return collector.VerdictSolid
	case first != nil && first.Contested: // one of several objects with the UID; the reference may mean another
		return v
	case !m.predictor.cluster() && v == collector.VerdictSolid && m.graph.Virtual(owner) && now != nil && !m.graph.Watched(owner):
		return v
	case v != collector.VerdictDangling && now != nil && now.DeletingDependents(): // also of an owner that was only looked up
		return collector.VerdictWaiting
	case v != collector.VerdictDangling && m.Changed(owner):
		return verdictFor(now)
	}
	return v
}

// judged returns the verdicts on a node's references in the state of the snapshot, or of
// the last SetObserved.
func (m *Model) judged(n graph.Node) []collector.Verdict {
	if m.verdicts[n] != nil {
		return m.verdicts[n]
	}
	out := make([]collector.Verdict, len(m.graph.Owners(n)))
	for i := range out {
		out[i] = m.verdict(m.judge.Reference(graph.Edge{Node: n, Index: i}))
	}
	return out
}

// verdict returns the verdict that the actor acts on. This program does not act where the
// collector errs. It verifies a waiting owner before it deletes a dependent, and it cannot
// verify one whose UID is contested.
func (m *Model) verdict(j collector.Judgement) collector.Verdict {
	client := !m.predictor.cluster()
	switch {
	case client && (j.NamesListKind() || j.Verdict == collector.VerdictWaiting && j.UIDHolder.Contested):
		return collector.VerdictUnknown
	case client && j.Verdict == collector.VerdictWaiting && j.Unmonitored(): // nobody completes that deletion (docs/gc-semantics.md#virtual-owners)
		return collector.VerdictSolid
	}
	return j.Verdict
}

// Decide returns the actor's decision on a node in its present state.
func (m *Model) Decide(n graph.Node) collector.Decision {
	d := m.decide(n)
	switch {
	case d.Action == collector.ActionOrphanDependents:
		if dependent, why := m.orphanRejected(n); dependent != graph.None {
			return collector.Decision{NoAction: why}
		}
	case m.refuses(n, d.Action), m.unblocksFirst(n, d) && m.refuses(n, collector.ActionUnblock):
		return collector.Decision{NoAction: collector.WriteRefused}
	}
	return d
}

// unblocksFirst reports whether the cluster's own collector sends the patch that breaks a cycle before it deletes an object, also
// if that changes nothing (attemptToDeleteItem).
func (m *Model) unblocksFirst(n graph.Node, d collector.Decision) bool {
	return m.predictor.cluster() && d.Action == collector.ActionDelete && d.Policy == metav1.DeletePropagationForeground &&
		m.deleting[n] > 0 && slices.Contains(m.Verdicts(n), collector.VerdictWaiting)
}

// refuses reports whether admission refuses the write that an action on a node is, as far as dry runs have shown.
func (m *Model) refuses(n graph.Node, a collector.Action) bool {
	switch a {
	case collector.ActionDelete:
		return m.deletionRefused(n)
	case collector.ActionUnlink, collector.ActionUnblock, collector.ActionRemoveFinalizer:
		return m.Admission(n, "UPDATE").Refused
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
	return false
}

// Admission returns what admission answered to a write of a node, a DELETE or an UPDATE.
func (m *Model) Admission(n graph.Node, operation string) reason.AdmissionAnswer {
	return m.graph.Snapshot().Admission(m.graph.UID(n), operation)
}

// retried reports whether the collector tries again and again to write an object, as admission refuses that.
func (m *Model) retried(n graph.Node) bool {
	return m.deletionRefused(n) || m.Admission(n, "UPDATE").Refused
}

func (m *Model) deletionRefused(n graph.Node) bool { return m.Admission(n, "DELETE").Refused }

// RefusedBy returns what refuses the write about a node that is due: its deletion, or the removal of references or a finalizer.
func (m *Model) RefusedBy(n graph.Node) reason.RefusedByAdmission {
	if m.decide(n).Action == collector.ActionDelete && m.deletionRefused(n) || m.ContentsRefused(n) {
		return m.Admission(n, "DELETE").Because
	}
	return m.Admission(n, "UPDATE").Because
}

// ContentsRefused reports whether a node is left although its Namespace is being deleted, as admission refuses its deletion.
func (m *Model) ContentsRefused(n graph.Node) bool {
	o := m.Object(n)
	if o == nil || o.Terminating() || !m.deletionRefused(n) {
		return false
	}
	ns, ok := m.contents().namespaces[o.Namespace]
	return ok && m.now[ns] != nil && m.now[ns].Terminating()
}

// orphanRejected returns a dependent that keeps an owner from orphaning, and why: the API server rejects or admission
// refuses the patch of each dependent that is left. It returns graph.None if the patch of one may succeed.
func (m *Model) orphanRejected(owner graph.Node) (graph.Node, collector.NoActionReason) {
	rejected, why := graph.None, collector.ActionTaken
	for _, e := range m.graph.Dependents(owner) {
		switch d := m.orphan(owner, e.Node); {
		case d.Action == collector.ActionUnlink:
			return graph.None, collector.ActionTaken
		case d.NoAction != collector.PatchRejected && d.NoAction != collector.WriteRefused:
		case rejected == graph.None || m.compare(e.Node, rejected) < 0:
			rejected, why = e.Node, d.NoAction
		}
	}
	return rejected, why
}

// decide is Decide without the check whether the API server rejects the patches that orphan dependents.
func (m *Model) decide(n graph.Node) collector.Decision {
	o := m.Object(n)
	in := collector.DecisionInput{Object: o, Actor: m.predictor.Actor}
	if o != nil {
		in.Complete = func() bool { return m.Complete(o.Namespace) }
		in.Dependents, in.Blockers, in.Deleting = int(m.dependents[n]), int(m.blockers[n]), int(m.deleting[n])
		if !o.Terminating() {
			in.Verdicts = m.Verdicts(n)
			in.Custom = len(o.Owners) > 1 && slices.Contains(in.Verdicts, collector.VerdictWaiting) && m.custom(o)
			in.DeletedBeforeOwner = m.deletedBeforeOwner(o, in.Verdicts)
			in.ContentsUnknown = !m.predictor.cluster() && len(o.Owners) > 0 && DeletesContents(o.Identity) && len(m.ContentsGaps(n)) > 0
		}
	}
	return collector.Decide(in)
}

// custom reports whether a CustomResourceDefinition defines the type of an object.
func (m *Model) custom(o *object.Object) bool {
	_, ok := m.contents().definitionOf(m.graph, o.APIVersion, o.Kind)
	return ok
}

// deletedBeforeOwner reports whether an object is deleted before one of its waiting
// owners.
func (m *Model) deletedBeforeOwner(o *object.Object, verdicts []collector.Verdict) bool {
	for i, v := range verdicts {
		if v != collector.VerdictWaiting {
			continue
		}
		if owner := m.graph.Object(m.graph.Find(o.Owners[i].UID)); owner != nil && deletedBefore(o, o.Owners[i], owner.DeletingDependents()) {
			return true
		}
	}
	return false
}

// ContentsGaps returns the gaps that may hide objects which the deletion of n would
// delete, except for accepted ones.
func (m *Model) ContentsGaps(n graph.Node) []snapshot.Gap {
	return m.graph.View().ContentsGaps(m.graph.Object(n).Identity, m.predictor.Accepted)
}

// DecideOrphan returns the decision that removes every reference of a dependent
// to an owner that orphans its dependents, whatever else those references say
// (docs/gc-semantics.md#orphaning).
func (m *Model) DecideOrphan(owner, dependent graph.Node) collector.Decision {
	if m.decide(owner).Action != collector.ActionOrphanDependents {
		return collector.Decision{NoAction: collector.AllOwnersSolid}
	}
	return m.orphan(owner, dependent)
}

// orphan returns the decision that removes every reference of a dependent to an owner.
func (m *Model) orphan(owner, dependent graph.Node) collector.Decision {
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
	if len(drop) == 0 {
		return collector.Decision{NoAction: collector.AllOwnersSolid}
	}
	d := collector.Decision{Action: collector.ActionUnlink, Change: object.Change{Drop: drop}}
	switch after := d.Change.Apply(*o); {
	case collector.UpdateRejected(&after):
		return collector.Decision{NoAction: collector.PatchRejected}
	case m.refuses(dependent, d.Action):
		return collector.Decision{NoAction: collector.WriteRefused}
	}
	return d
}

// Apply changes a node as the API server does when the decision is carried out.
func (m *Model) Apply(n graph.Node, d collector.Decision) {
	o := m.Object(n)
	switch d.Action {
	case collector.ActionDelete:
		m.SetState(n, StateAfterDelete(o, d.Policy, d.GraceSeconds, m.taken))
	case collector.ActionUnlink, collector.ActionUnblock, collector.ActionRemoveFinalizer:
		next := StateAfterPatch(o, d.Change)
		if next != nil && m.predictor.cluster() {
			next.Owners = withoutDuplicates(next.Owners)
		}
		m.SetState(n, next)
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
}

// SetState sets the state of a node after a decision on it was carried out; nil is gone.
// References may have been removed, but none added or reordered.
func (m *Model) SetState(n graph.Node, next *object.Object) {
	if now := m.now[n]; now != nil && next != nil && len(next.Owners) != len(now.Owners) {
		m.verdicts[n] = remaining(now, next, m.judged(n))
	}
	m.set(n, next)
}

// SetObserved sets the state of a node that was read again, with new judgements on its
// references; nil is gone.
func (m *Model) SetObserved(n graph.Node, next *object.Object, judgements []collector.Judgement) {
	m.verdicts[n] = nil
	if next != nil {
		m.verdicts[n] = make([]collector.Verdict, len(judgements))
		for i, j := range judgements {
			m.verdicts[n][i] = m.verdict(j)
		}
	}
	m.set(n, next)
}

// remaining returns the verdicts on the references that are left. It is never nil.
func remaining(before, after *object.Object, verdicts []collector.Verdict) []collector.Verdict {
	out := make([]collector.Verdict, 0, len(after.Owners))
	next := 0
	for i, r := range before.Owners {
		if next < len(after.Owners) && r.SameOwner(after.Owners[next]) {
			out = append(out, verdicts[i])
			next++
		}
	}
	return out
}

func (m *Model) set(n graph.Node, next *object.Object) {
	old := m.now[n]
	m.count(n, old, -1)
	m.now[n] = next
	m.count(n, next, 1)
	if m.simulation == nil {
		return
	}
	unnoticed := m.graph.Virtual(n) && next != nil // the collector does not watch it, so it only notices that it is gone
	if !unnoticed && (verdictFor(old) != verdictFor(next) || orphaning(old) != orphaning(next)) {
		for _, e := range m.graph.Dependents(n) {
			m.simulation.enqueue(e.Node)
		}
	}
	if old != nil {
		for _, r := range old.Owners {
			node := m.graph.Find(r.UID)
			if owner := m.Object(node); owner != nil && (owner.HasCollectorFinalizer() || m.retried(node)) {
				m.simulation.enqueue(node)
			}
		}
	}
	if next != nil {
		m.simulation.enqueue(n)
	}
	m.simulation.onStateChange(n, old)
}

func orphaning(o *object.Object) bool { return o != nil && o.Orphaning() }

// verdictFor returns the verdict on a correct reference to an owner in this state. One
// with both of the collector's finalizers orphans first, and is solid until it has
// (docs/gc-semantics.md#orphaning).
func verdictFor(owner *object.Object) collector.Verdict {
	switch {
	case owner == nil:
		return collector.VerdictDangling
	case owner.DeletingDependents() && !owner.Orphaning():
		return collector.VerdictWaiting
	}
	return collector.VerdictSolid
}

// count adds by for each reference of an object to the counts of its owners. The
// collector does not watch objects that were only looked up, so they do not count.
func (m *Model) count(n graph.Node, o *object.Object, by int32) {
	if o == nil || int(n) >= m.graph.Listed() {
		return
	}
	m.begun[n] = m.begun[n] || o.DeletingDependents()
	for _, r := range o.Owners {
		owner := m.graph.Find(r.UID)
		if owner == graph.None { // not in the snapshot
			continue
		}
		m.dependents[owner] += by
		if r.Blocks() {
			m.blockers[owner] += by
		}
		if m.begun[n] {
			m.deleting[owner] += by
		}
	}
}
