package plan

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Options say what a plan is for and how far it may go.
type Options struct {
	Mode   Mode
	Bounds simulate.Bounds
	Hand   collector.Actor // who carries it out, save for what is asked for
	// Accepted are the words for gaps that a person accepted.
	Accepted snapshot.AcceptedGaps
}

// Deletion are the options of a plan that is about those deletions and what
// follows from them.
func Deletion(hand collector.Actor, deletes ...simulate.Deletion) Options {
	return Options{Mode: Delete, Hand: hand, Bounds: simulate.Bounds{Roots: simulate.Nothing, Deletes: deletes}}
}

// New foretells what a pass of the collector does with what the graph shows, or
// what comes of deletions, to the end. It costs time and memory linear in objects,
// references and steps.
func New(g *graph.Graph, o Options) *Plan {
	p := making(g, o)
	if p.AcceptedGaps = accepted(g, p, o); len(p.AcceptedGaps) > 0 {
		o.Accepted = nil
		markAccepted(g, p, making(g, o))
	}
	p.Finalize()
	return p
}

func making(g *graph.Graph, o Options) *Plan {
	m := &maker{graph: g, judge: collector.NewJudge(g), options: o}
	m.refuseContainers()
	for {
		p := m.make()
		if o.Mode != Delete || !m.refuseCascades(p) {
			return p
		}
	}
}

// make makes the plan of the deletions that were not refused so far.
func (m *maker) make() *Plan {
	m.course = m.model().Simulate(m.options.Bounds)
	seen := m.graph.Snapshot()
	p := &Plan{
		Mode: m.options.Mode, Complete: seen.Complete(), Gaps: distinct(seen.Gaps),
		Steps: m.steps(), Outcomes: m.outcomes(), Blocked: m.blocked(),
	}
	if p.Mode == Delete {
		p.Retained, p.DeletedLater = m.retained(), m.deletedLater() // deletedLater moves the model on
	}
	return p
}

func (m *maker) model() *simulate.Model {
	if m.options.Hand == collector.ActorClient {
		return simulate.NewApplyModel(m.graph, m.judge, m.options.Accepted)
	}
	return simulate.NewActorModel(m.graph, m.judge, m.options.Hand)
}

func (s *Summary) add(action collector.Action) {
	switch action {
	case collector.ActionDelete:
		s.Delete++
	case collector.ActionUnlink:
		s.Unlink++
	case collector.ActionUnblock:
		s.Unblock++
	case collector.ActionRemoveFinalizer:
		s.RemoveFinalizer++
	case Relink:
		s.Relink++
	case UpdateVersion:
		s.UpdateVersion++
	case Create:
		s.Create++
	case Link:
		s.Link++
	case collector.ActionNone, collector.ActionOrphanDependents:
	}
}

// maker puts one course into a plan.
type maker struct {
	graph   *graph.Graph
	judge   *collector.Judge
	course  *simulate.Result
	options Options
	refused []Blocked // deletions that were asked for and are not in the plan
}

func (m *maker) steps() []Step {
	out := make([]Step, len(m.course.Transitions))
	for i := range m.course.Transitions {
		out[i] = m.step(i)
	}
	return out
}

// step returns the step of one move.
func (m *maker) step(i int) Step {
	move := &m.course.Transitions[i]
	out := Step{
		ID: id(i), Pass: move.Pass, Requested: move.Asked, Action: move.Action, Object: m.object(move.Node),
		PropagationPolicy: string(move.Policy), Finalizer: move.Change.Release,
		After: make([]string, len(move.StateAfter)), References: m.references(move),
		WaitsForKubelet: m.course.StoppedPods[i], Move: move,
	}
	for k, before := range move.StateAfter {
		out.After[k] = id(before)
	}
	if move.Follows >= 0 {
		out.Follows = id(move.Follows)
	}
	out.OwnerUIDs = owners(out.References)
	out.Reason = m.reason(i, out)
	return out
}

func id(move int) string { return strconv.Itoa(move + 1) }

// object is a node as the snapshot saw it: what a write of this run finds is
// bound to that, or to what an earlier step left of it.
func (m *maker) object(n graph.Node) Object {
	o := m.graph.Object(n)
	return Object{Identity: o.Identity, ResourceVersion: o.ResourceVersion}
}

func owners(references []Reference) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, r := range references {
		if !seen[r.UID] {
			seen[r.UID] = true
			out = append(out, r.UID)
		}
	}
	return out
}

// references are those that a move rests on: those that go or change, or all of
// an object that is deleted.
func (m *maker) references(move *simulate.Transition) []Reference {
	out := []Reference{}
	judged := m.judge.Each(move.Node)
	add := func(i int) {
		out = append(out, Reference{
			Reference: *audit.ReferenceOf(move.StateBefore.Owners[i]), Verdict: verdictOf(move, i), Found: m.found(move, i, judged(move.StateBefore.Owners[i])),
		})
	}
	switch move.Action {
	case collector.ActionDelete:
		for i := range move.StateBefore.Owners {
			add(i)
		}
	case collector.ActionUnlink:
		for _, i := range move.Change.Drop {
			add(i)
		}
	case collector.ActionUnblock:
		for _, i := range move.Change.Unblock {
			add(i)
		}
	case collector.ActionRemoveFinalizer, collector.ActionNone, collector.ActionOrphanDependents:
	}
	return out
}

// verdictOf is that on a reference when the move is made. A terminating object
// is not judged: it loses references only to owners that are orphaned, which
// are solid then (docs/gc-semantics.md#orphaning).
func verdictOf(move *simulate.Transition, i int) collector.Verdict {
	if i < len(move.Verdicts) {
		return move.Verdicts[i]
	}
	return collector.Solid
}

func (m *maker) outcomes() []Outcome {
	out := []Outcome{}
	nondeterministic, obstacles := m.nondeterministic(), simulate.NewObstacles(m.course.Model)
	for _, n := range m.touched().Nodes() {
		if !m.course.Model.Changed(n) {
			continue
		}
		left := m.course.Model.Object(n)
		o := Outcome{Object: m.graph.Object(n).Identity, State: Changed, WaitsFor: []string{}, Nondeterministic: reason.Nested{Reason: nondeterministic[n]}}
		switch {
		case left == nil:
			o.State = Deleted
		case left.Terminating():
			o.State, o.WaitsFor = Terminating, waitsFor(left)
			if end, _ := obstacles.RootCause(n); o.Nondeterministic.Reason == nil && nondeterministic[end.Node] != nil {
				o.Nondeterministic.Reason = reason.DependsOn{Object: m.graph.Object(end.Node).Identity}
			}
		}
		if by, swept := m.course.ContentsDeleted[n]; swept {
			o.Follows = id(by)
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b Outcome) int { return a.Object.Compare(b.Object) })
	return out
}

// touched are the objects that the course moves, or that others move on its
// account.
func (m *maker) touched() graph.Set {
	out := graph.NewSet(m.graph)
	for i := range m.course.Transitions {
		out.Add(m.course.Transitions[i].Node)
	}
	for n := range m.course.ContentsDeleted {
		out.Add(n)
	}
	for _, n := range m.course.FinalizersRemoved.Nodes() {
		out.Add(n)
	}
	return out
}

// waitsFor are the finalizers that a terminating object is left with; a
// namespace without any waits for its contents.
func waitsFor(o *object.Object) []string {
	if len(o.Finalizers) == 0 {
		return []string{"kubernetes"} // in its spec: the namespace controller's
	}
	return append([]string{}, o.Finalizers...)
}
