package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// RepairOptions select which references a repair changes, and how. The zero value repairs
// everything that can be repaired.
type RepairOptions struct {
	// Within reports which objects are repaired. Nil: all listed objects.
	Within func(graph.Node) bool
	// Causes are those of the repaired references. Empty: all.
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
		graph: g, judge: j, planner: repair.New(j), options: o, wanted: map[graph.Node]repairWork{}, blocked: map[graph.Node][]reason.Reason{},
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
	p.Finalize()
	return p
}

// repairBuilder builds the plan of a repair.
type repairBuilder struct {
	graph   *graph.Graph
	judge   *collector.Judge
	planner *repair.Planner
	options RepairOptions
	wanted  map[graph.Node]repairWork // the repair of each object
	blocked map[graph.Node][]reason.Reason
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
	if !slices.ContainsFunc(judgements, func(j collector.Judgement) bool { return j.Verdict != collector.VerdictSolid }) {
		return
	}
	var wanted repairWork
	for i, m := range r.repairs(n) {
		if !r.selects(judgements[i]) {
			continue
		}
		switch fix := r.fix(m); {
		case fix != repair.None:
			wanted.add(fix, i, m)
		case r.options.Fix == "" || r.options.Named && m.Fix == repair.None: // otherwise the options exclude it
			r.reportUnrepaired(n, i, judgements[i], m)
		}
	}
	if !wanted.empty() {
		r.wanted[n] = wanted
	}
}

// dropRequested removes the references of one object to the owners in options.References.
func (r *repairBuilder) dropRequested(n graph.Node) {
	var wanted repairWork
	if of := r.graph.Object(n); of.Contested {
		r.blocked[n] = append(r.blocked[n], snapshot.UIDContested(of))
		return
	}
	for i, m := range r.repairs(n) {
		if m.UserSelected {
			wanted.add(repair.Unlink, i, m)
		}
	}
	if !wanted.empty() {
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
func (r *repairBuilder) selects(j collector.Judgement) bool {
	return j.Verdict != collector.VerdictSolid && (len(r.options.Causes) == 0 || slices.Contains(r.options.Causes, j.Cause))
}

// fix returns the fix that this repair makes, or None.
func (r *repairBuilder) fix(m repair.Repair) repair.Fix {
	switch wanted := r.options.Fix; {
	case wanted == "" && m.NeedsDecision:
		return repair.None
	case wanted == "", wanted == m.Fix:
		return m.Fix
	case wanted == repair.Unlink && m.Fix == repair.Relink: // the old owner is just as absent
		return repair.Unlink
	}
	return repair.None
}

// reportUnrepaired records why a reference is not repaired. If that is unknown or has no
// consequence, it is recorded only for objects that a person named.
func (r *repairBuilder) reportUnrepaired(n graph.Node, i int, j collector.Judgement, m repair.Repair) {
	of := r.graph.Object(n)
	if !r.options.Named && (of.Terminating() || j.Cause == collector.CauseUnverified || j.Cause == collector.CauseTerminating) {
		return
	}
	owner := j.Owner(of.Owners[i])
	owner.Found = m.Found
	left := reason.Unrepaired{Owner: owner, ByHand: m.NeedsDecision}
	if last := len(r.blocked[n]) - 1; last >= 0 {
		if before, ok := r.blocked[n][last].(reason.NotRepaired); ok {
			before.References = append(before.References, left)
			r.blocked[n][last] = before
			return
		}
	}
	r.blocked[n] = append(r.blocked[n], reason.NotRepaired{References: []reason.Unrepaired{left}})
}

func (r *repairBuilder) blockedObjects() []Blocked {
	out := []Blocked{}
	for n, why := range r.blocked {
		out = append(out, Blocked{Object: r.graph.Object(n).Identity, By: []object.Identity{}, Reason: reason.Combine(why)})
	}
	slices.SortFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}
