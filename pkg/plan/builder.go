package plan

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Purpose is what a plan is for, and how far it goes.
type Purpose struct {
	Mode      Mode
	Bounds    simulate.Bounds
	Predictor simulate.Predictor // of everything except requested deletions
}

// CollectPurpose returns the purpose of a plan for a pass of this program over everything, if these gaps are accepted.
func CollectPurpose(accepted snapshot.AcceptedGaps) Purpose {
	return Purpose{Mode: Collect, Predictor: simulate.Own.Accepting(accepted)}
}

// DeletePurpose returns the purpose of a plan for those deletions and what follows from them.
func DeletePurpose(p simulate.Predictor, deletes ...simulate.DeleteRequest) Purpose {
	return Purpose{Mode: Delete, Predictor: p, Bounds: simulate.Bounds{Roots: simulate.NoRoots, Deletes: deletes}}
}

// FinalizerPurpose returns the purpose of a plan that removes a finalizer from a terminating
// object, and of what the cluster's own garbage collector does then.
func FinalizerPurpose(n graph.Node, finalizer string, accepted snapshot.AcceptedGaps) Purpose {
	return Purpose{Mode: FinalizerRemoval, Predictor: simulate.Cluster.Accepting(accepted), Bounds: simulate.Bounds{
		Roots: simulate.NoRoots, Removal: simulate.FinalizerPatch{Node: n, Finalizer: finalizer},
	}}
}

// Remaining plans what is left of the work of an earlier plan: what the predictor's collector still does
// with its objects, and with their dependents if withDependents is set.
func Remaining(done *Plan, j *collector.Judge, p simulate.Predictor, withDependents bool) *Plan {
	g := j.Graph()
	planned, concerned := graph.NewSet(g), graph.NewSet(g)
	var deleted []graph.Node
	for _, outcome := range done.Outcomes {
		n := g.Find(outcome.Object.UID)
		planned.Add(n)
		if outcome.State.Deletes() {
			deleted = append(deleted, n)
		}
	}
	if withDependents {
		g.AddDescendants(concerned, graph.Unlimited, deleted...)
	}
	for _, n := range planned.Nodes() {
		concerned.Add(n)
	}
	out := New(j, Purpose{Mode: Collect, Predictor: p, Bounds: simulate.Bounds{Roots: concerned.Has}})
	out.Steps = slices.DeleteFunc(out.Steps, func(s Step) bool { return !concerned.Has(g.Find(s.Object.UID)) })
	out.Blocked = slices.DeleteFunc(out.Blocked, func(b Blocked) bool { return !planned.Has(g.Find(b.Object.UID)) })
	out.LostObjects = out.lostObjects()
	return out
}

// New plans one pass of the garbage collector, or deletions and all that follows from them.
// It takes time and memory linear in objects, references and steps.
func New(j *collector.Judge, o Purpose) *Plan {
	p := build(j, o)
	if p.AcceptedGaps = accepted(j.Graph(), p, o); len(p.AcceptedGaps) > 0 {
		o.Predictor = o.Predictor.Accepting(nil)
		markAccepted(j.Graph(), p, build(j, o))
	}
	return p
}

// builder builds a plan from a simulation.
type builder struct {
	graph   *graph.Graph
	judge   *collector.Judge
	result  *simulate.Prediction
	options Purpose
	refused []Blocked // requested deletions that are left out
	// keptRequests are those of them that admission refuses.
	keptRequests []object.Identity
	release      *simulate.Release // what follows the run; nil if nothing does
}

func build(j *collector.Judge, o Purpose) *Plan {
	b := &builder{graph: j.Graph(), judge: j, options: o}
	b.refuseRequests()
	for {
		p := b.buildOnce()
		if !o.Mode.Cascades() || !b.refuseCascades(p) {
			return p
		}
	}
}

// buildOnce builds the plan of the deletions that are not refused yet.
func (b *builder) buildOnce() *Plan {
	b.result = simulate.Run(b.judge, b.options.Predictor, b.options.Bounds)
	scan := b.graph.Snapshot()
	p := &Plan{
		Mode: b.options.Mode, Complete: scan.Complete(), Gaps: distinct(scan.Gaps),
		Steps: b.steps(), Outcomes: b.outcomes(), Blocked: b.blocked(), KeptByAdmission: b.keptByAdmission(),
	}
	if p.Mode.Cascades() {
		p.Retained = b.retained(p.Outcomes)
	}
	p.LostObjects = p.lostObjects()
	return p
}

func (b *builder) steps() []Step {
	out := make([]Step, len(b.result.Transitions))
	for i := range b.result.Transitions {
		out[i] = b.step(i)
	}
	return out
}

func (b *builder) step(i int) Step {
	transition := &b.result.Transitions[i]
	out := Step{
		ID: id(i), Pass: transition.Pass, Requested: transition.Requested, Action: Action(transition.Action), Object: b.object(transition.Node),
		After: make([]string, len(transition.Prerequisites)), References: b.references(transition),
	}
	if transition.Action == collector.ActionDelete {
		out.Deletion = &Deletion{Transition: transition, WaitsForKubelet: b.result.StoppedPods[i]}
	} else {
		out.Patch = &Patch{Transition: transition}
		if f := transition.Change.RemoveFinalizer; f != "" {
			out.Patch.InUse = b.result.Model.InUse(transition.Node, f)
			out.Patch.InUse.UsersUnknown = out.Patch.InUse.UsersUnknown || simulate.SaysProtection(f)
		}
	}
	for k, before := range transition.Prerequisites {
		out.After[k] = id(before)
	}
	if transition.CausedBy >= 0 {
		out.Follows = id(transition.CausedBy)
	}
	out.Reason = b.reason(i, out)
	return out
}

func id(transition int) string { return strconv.Itoa(transition + 1) }

// object returns a node with the resourceVersion of the scan: a write is bound to that state,
// or to what an earlier step made of it.
func (b *builder) object(n graph.Node) ObjectState {
	o := b.graph.Object(n)
	return ObjectState{Identity: o.Identity, ResourceVersion: o.ResourceVersion}
}

// references returns the references that a transition depends on: those that it removes or
// changes, or all of an object that it deletes.
func (b *builder) references(transition *simulate.Transition) []StepReference {
	out := []StepReference{}
	scanned, at := b.graph.Object(transition.Node).Owners, 0
	for i, r := range transition.StateBefore.Owners {
		if transition.Action != collector.ActionDelete && !transition.Change.Drops(i) && !transition.Change.Unblocks(i) {
			continue
		}
		for !scanned[at].SameOwner(r) { // earlier transitions have removed it
			at++
		}
		judged := b.judge.Reference(graph.Edge{Node: transition.Node, Index: at})
		out = append(out, StepReference{
			Reference: r, Verdict: verdictOf(transition, i), Found: b.found(transition, i, judged),
		})
	}
	return out
}

// verdictOf returns the verdict on a reference at the time of the transition. A terminating
// object is not judged: it loses references only to owners that orphan their dependents,
// which are solid then (docs/gc-semantics.md#orphaning).
func verdictOf(transition *simulate.Transition, i int) collector.Verdict {
	if i < len(transition.Verdicts) {
		return transition.Verdicts[i]
	}
	return collector.VerdictSolid
}

// found returns what was found of the owner that a reference names.
func (b *builder) found(transition *simulate.Transition, i int, judged collector.Judgement) reason.Found {
	owner := b.graph.Find(transition.StateBefore.Owners[i].UID)
	if b.result.Model.Changed(owner) && b.graph.Object(owner) != nil && judged.Verdict.OwnerExists() {
		return reason.Found{State: stateInRun(transition, i)}
	}
	return judged.Found()
}

// stateInRun returns what this run has done to an existing owner by the time of a transition.
func stateInRun(transition *simulate.Transition, i int) reason.OwnerState {
	switch verdictOf(transition, i) {
	case collector.VerdictWaiting:
		return reason.StateWaiting
	case collector.VerdictSolid:
		return reason.StateExists
	case collector.VerdictDangling, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown:
	}
	return reason.StateDeletedBefore
}
