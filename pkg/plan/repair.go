package plan

import (
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// RepairOptions select which references a repair changes, and how. The zero value repairs
// everything that can be repaired.
type RepairOptions struct {
	// Within reports which objects are repaired. Nil: all listed objects.
	Within func(graph.Node) bool
	// Causes are those of the repaired references. Empty: all but CauseNone, which stands for solid
	// references in a version that is not preferred. If Fix is UpdateVersion, empty includes them.
	Causes []collector.Cause
	// Fix is the only fix that is made. Unlink also removes references that could be
	// relinked, and those whose owner only a person can declare absent. Empty: the fix that
	// fits each reference, except that last one.
	Fix repair.Fix
	// References are UIDs of owners. If there are any, all references to them are removed,
	// even solid ones, and nothing else is repaired.
	References []types.UID
	// Named reports that a person named each object, so that the plan says why one is not
	// repaired even if it is unknown whether it has to be.
	Named bool
}

// NewRepair plans the repair of references that resolve to no owner. It deletes nothing, and
// changes a solid reference only if a person selected it. An object that the garbage
// collector would delete only because of the repair is not repaired.
//
// The plan also says what the garbage collector would do with each object without the
// repair; an object that it deletes all the same is blocked.
func NewRepair(j *collector.Judge, o RepairOptions) *Plan {
	g := j.Graph()
	r := &repairBuilder{
		graph: g, judge: j, planner: repair.New(j), options: o, wanted: map[graph.Node]repairWork{}, blocked: map[graph.Node][]*reason.Reason{},
	}
	for n := range g.Listed() {
		if node := graph.Node(n); o.Within == nil || o.Within(node) {
			r.choose(node)
		}
	}
	unrepaired := r.protect()
	p := &Plan{
		Mode: Repair, Complete: g.Snapshot().Complete(), Gaps: distinct(g.Snapshot().Gaps),
		Steps: []Step{}, Outcomes: []Outcome{},
	}
	for _, n := range r.nodes() {
		steps, outcome := r.steps(n, len(p.Steps), unrepaired[n])
		p.Steps, p.Outcomes = append(p.Steps, steps...), append(p.Outcomes, outcome)
	}
	p.Blocked = r.blockedObjects()
	return p
}

// repairBuilder builds the plan of a repair.
type repairBuilder struct {
	graph   *graph.Graph
	judge   *collector.Judge
	planner *repair.Planner
	options RepairOptions
	wanted  map[graph.Node]repairWork // the repair of each object
	blocked map[graph.Node][]*reason.Reason
	// released are the terminating owners whose deletion the repair lets complete.
	released map[types.UID]bool
}

// nodes returns the objects that are repaired, in the order of the graph.
func (r *repairBuilder) nodes() []graph.Node { return slices.Sorted(maps.Keys(r.wanted)) }

// choose decides how to repair the references of one object.
func (r *repairBuilder) choose(n graph.Node) {
	if len(r.graph.Object(n).Owners) == 0 {
		return
	}
	if len(r.options.References) > 0 {
		r.dropRequested(n)
		return
	}
	judgements := r.judge.Object(n)
	repairable := func(j collector.Judgement) bool {
		return j.Verdict != collector.VerdictSolid || j.NamesOutdatedVersion()
	}
	if !slices.ContainsFunc(judgements, repairable) {
		return
	}
	wanted, left := repairWork{}, []reason.Unrepaired{}
	for i, m := range r.repairs(n) {
		if !r.selects(judgements[i], m) {
			continue
		}
		switch fix := m.Limited(r.options.Fix); {
		case fix != repair.None:
			wanted.add(fix, i, m)
		case r.options.Fix == "" || r.options.Named && m.Fix == repair.None: // otherwise the options exclude it
			if owner := judgements[i].Owner(r.graph.Object(n).Owners[i]); r.reports(n, judgements[i]) {
				owner.Found = m.Found
				left = append(left, reason.Unrepaired{Owner: owner, ByHand: m.NeedsDecision})
			}
		}
	}
	if len(left) > 0 {
		r.blocked[n] = append(r.blocked[n], reason.NotRepaired(left))
	}
	if len(wanted) > 0 {
		r.wanted[n] = wanted
	}
}

// dropRequested removes the references of one object to the owners in options.References.
func (r *repairBuilder) dropRequested(n graph.Node) {
	wanted := repairWork{}
	if of := r.graph.Object(n); of.Contested {
		r.blocked[n] = append(r.blocked[n], reason.Of(snapshot.UIDContested(of)))
		return
	}
	for i, m := range r.repairs(n) {
		if m.UserSelected {
			wanted.add(repair.Unlink, i, m)
		}
	}
	if len(wanted) > 0 {
		r.wanted[n] = wanted
	}
}

// repairs returns how each reference of an object can be repaired, or that a person selected
// it.
func (r *repairBuilder) repairs(n graph.Node) []repair.Repair {
	out := r.planner.Object(n)
	for i, of := range r.graph.Object(n).Owners {
		if slices.Contains(r.options.References, of.UID) {
			out[i] = repair.Repair{Fix: repair.Unlink, UserSelected: true}
		}
	}
	return out
}

// selects reports whether the options select a reference.
func (r *repairBuilder) selects(j collector.Judgement, m repair.Repair) bool {
	if m.Optional {
		return slices.Contains(r.options.Causes, collector.CauseNone) || len(r.options.Causes) == 0 && r.options.Fix == repair.UpdateVersion
	}
	return j.Verdict != collector.VerdictSolid && (len(r.options.Causes) == 0 || slices.Contains(r.options.Causes, j.Cause))
}

// reports reports whether the plan says that a reference is not repaired. If that is unknown or
// has no consequence, it says so only of objects that a person named.
func (r *repairBuilder) reports(n graph.Node, j collector.Judgement) bool {
	return r.options.Named || !r.graph.Object(n).Terminating() && j.Cause != collector.CauseUnverified && j.Cause != collector.CauseTerminating
}

func (r *repairBuilder) blockedObjects() []Blocked {
	out := []Blocked{}
	for n, why := range r.blocked {
		out = append(out, Blocked{Object: r.graph.Object(n).Identity, By: []object.Identity{}, Reason: reason.Combine(why)})
	}
	slices.SortFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}

// steps returns the steps for one object, the first with the number at+1. unrepaired is what
// the garbage collector would do without them.
func (r *repairBuilder) steps(n graph.Node, at int, unrepaired collector.Consequence) ([]Step, Outcome) {
	o, judgements, repairs, wanted := r.graph.Object(n), r.judge.Object(n), r.repairs(n), r.wanted[n]
	before, verdicts := o, collector.Verdicts(judgements)
	var out []Step
	for action, change := range wanted.changes() {
		k := len(out)
		transition := &simulate.Transition{
			Decision: collector.Decision{Action: collector.Action(action), Change: change, UndecidableReference: -1},
			Pass:     1, Node: n, StateBefore: before, Verdicts: slices.Clone(verdicts), OrphanedFrom: graph.None, CausedBy: -1,
		}
		s := Step{
			ID: id(at + k), Pass: 1, Action: action, After: []string{}, Patch: &Patch{Transition: transition},
			Object: ObjectState{Identity: o.Identity, ResourceVersion: o.ResourceVersion},
		}
		if k > 0 {
			transition.CausedBy, transition.Prerequisites = at+k-1, []int{at + k - 1}
			s.Follows, s.After = id(at+k-1), []string{id(at + k - 1)}
		}
		for _, i := range change.Touched() {
			s.References = append(s.References, referenceOf(before.Owners[i], judgements[i], repairs[i], action))
			s.Patch.Repairs = append(s.Patch.Repairs, repairs[i])
		}
		var without reason.WithoutRepair
		if k == 0 {
			without = withoutRepair[unrepaired]
		}
		s.Reason = repairReason(s, r.completed(s.References), without)
		out = append(out, s)
		for _, w := range change.Rewrite {
			verdicts[w.Index] = collector.VerdictSolid
		}
		after := change.Apply(*before)
		before = &after
	}
	return out, Outcome{Object: o.Identity, State: Changed, When: Now, WaitsFor: []string{}, WithoutRepair: unrepaired}
}

// completed returns the owners whose deletion completes without these references.
func (r *repairBuilder) completed(references []StepReference) []string {
	var out []string
	for _, reference := range references {
		if r.released[reference.UID] && reference.Becomes == nil {
			out = append(out, r.graph.Object(r.graph.Find(reference.UID)).String())
		}
	}
	return out
}

func referenceOf(r object.Reference, j collector.Judgement, m repair.Repair, action Action) StepReference {
	out := StepReference{Reference: r, Verdict: j.Verdict, Found: j.Found()}
	if action != ActionUnlink {
		out.Becomes = &m.Becomes
	}
	return out
}

// repairWork are the changes to the references of one object, by action.
type repairWork map[Action]object.Change

func (w repairWork) add(fix repair.Fix, i int, m repair.Repair) {
	change := w[Action(fix)]
	if fix == repair.Unlink {
		change.Drop = append(change.Drop, i)
	} else {
		change.Rewrite = append(change.Rewrite, object.Rewrite{Index: i, Reference: m.Becomes})
	}
	w[Action(fix)] = change
}

// changes returns the changes to one object by action. Those that add a solid owner come
// first, because the garbage collector may run in between. No change moves a reference that
// a later one has the index of.
func (w repairWork) changes() iter.Seq2[Action, object.Change] {
	return func(yield func(Action, object.Change) bool) {
		for _, action := range []Action{ActionRelink, ActionUpdateVersion, ActionUnlink} {
			if change, ok := w[action]; ok && !yield(action, change) {
				return
			}
		}
	}
}
