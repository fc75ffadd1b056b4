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
	p := build(g, o)
	if p.AcceptedGaps = accepted(g, p, o); len(p.AcceptedGaps) > 0 {
		o.Accepted = nil
		markAccepted(g, p, build(g, o))
	}
	p.Finalize()
	return p
}

func build(g *graph.Graph, o Options) *Plan {
	m := &builder{graph: g, judge: collector.NewJudge(g), options: o}
	m.refuseUnlistedContents()
	for {
		p := m.buildOnce()
		if o.Mode != Delete || !m.refuseCascades(p) {
			return p
		}
	}
}

// buildOnce makes the plan of the deletions that were not refused so far.
func (m *builder) buildOnce() *Plan {
	m.result = m.model().Simulate(m.options.Bounds)
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

func (m *builder) model() *simulate.Model {
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

// builder puts one course into a plan.
type builder struct {
	graph   *graph.Graph
	judge   *collector.Judge
	result  *simulate.Result
	options Options
	refused []Blocked // deletions that were asked for and are not in the plan
}

func (m *builder) steps() []Step {
	out := make([]Step, len(m.result.Transitions))
	for i := range m.result.Transitions {
		out[i] = m.step(i)
	}
	return out
}

// step returns the step of one move.
func (m *builder) step(i int) Step {
	transition := &m.result.Transitions[i]
	out := Step{
		ID: id(i), Pass: transition.Pass, Requested: transition.Asked, Action: transition.Action, Object: m.object(transition.Node),
		PropagationPolicy: string(transition.Policy), Finalizer: transition.Change.Release,
		After: make([]string, len(transition.StateAfter)), References: m.references(transition),
		WaitsForKubelet: m.result.StoppedPods[i], Move: transition,
	}
	for k, before := range transition.StateAfter {
		out.After[k] = id(before)
	}
	if transition.Follows >= 0 {
		out.Follows = id(transition.Follows)
	}
	out.OwnerUIDs = owners(out.References)
	out.Reason = m.reason(i, out)
	return out
}

func id(transition int) string { return strconv.Itoa(transition + 1) }

// object is a node as the snapshot saw it: what a write of this run finds is
// bound to that, or to what an earlier step left of it.
func (m *builder) object(n graph.Node) Object {
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
func (m *builder) references(transition *simulate.Transition) []Reference {
	out := []Reference{}
	judged := m.judge.Each(transition.Node)
	add := func(i int) {
		out = append(out, Reference{
			Reference: *audit.ReferenceOf(transition.StateBefore.Owners[i]), Verdict: verdictOf(transition, i), Found: m.found(transition, i, judged(transition.StateBefore.Owners[i])),
		})
	}
	switch transition.Action {
	case collector.ActionDelete:
		for i := range transition.StateBefore.Owners {
			add(i)
		}
	case collector.ActionUnlink:
		for _, i := range transition.Change.Drop {
			add(i)
		}
	case collector.ActionUnblock:
		for _, i := range transition.Change.Unblock {
			add(i)
		}
	case collector.ActionRemoveFinalizer, collector.ActionNone, collector.ActionOrphanDependents:
	}
	return out
}

// verdictOf is that on a reference when the move is made. A terminating object
// is not judged: it loses references only to owners that are orphaned, which
// are solid then (docs/gc-semantics.md#orphaning).
func verdictOf(transition *simulate.Transition, i int) collector.Verdict {
	if i < len(transition.Verdicts) {
		return transition.Verdicts[i]
	}
	return collector.Solid
}

func (m *builder) outcomes() []Outcome {
	out := []Outcome{}
	nondeterministic, obstacles := m.nondeterministic(), simulate.NewObstacles(m.result.Model)
	for _, n := range m.touched().Nodes() {
		if !m.result.Model.Changed(n) {
			continue
		}
		left := m.result.Model.Object(n)
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
		if by, withContents := m.result.ContentsDeleted[n]; withContents {
			o.Follows = id(by)
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b Outcome) int { return a.Object.Compare(b.Object) })
	return out
}

// touched are the objects that the course moves, or that others move on its
// account.
func (m *builder) touched() graph.Set {
	out := graph.NewSet(m.graph)
	for i := range m.result.Transitions {
		out.Add(m.result.Transitions[i].Node)
	}
	for n := range m.result.ContentsDeleted {
		out.Add(n)
	}
	for _, n := range m.result.FinalizersRemoved.Nodes() {
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
