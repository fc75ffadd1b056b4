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

// RepairOptions say which references a repair mends, and how. The zero value mends
// everything that can be.
type RepairOptions struct {
	// Within says which objects are mended. Nil: all that a list showed.
	Within func(graph.Node) bool
	// Causes are those of the references that are mended. Empty: all.
	Causes []collector.VerdictCause
	// Fix is the only one that is made; Unlink takes away a reference that could
	// be relinked, too, and one of which only a person can say that it leads
	// nowhere. Empty: what fits each reference, save that last one.
	Fix repair.Fix
	// References are the UIDs of owners whose references are taken away, whether they
	// hold or not, and then nothing else is. It is for a person who knows which
	// reference of a circle to give up.
	References []types.UID
	// Named says that the objects were named one by one, so that it is told of each
	// why it is not mended, even if nobody knows whether it has to be.
	Named bool
}

// NewRepair plans to mend references that lead to no owner, so that the collector does
// not act on them. Nothing is deleted by it, and no solid reference changes that
// nobody named. An object is left as it is where the collector would delete it only
// because it is mended.
//
// Besides what the steps do it foretells, by the collector's model, what would
// become of each object without them, and which it would delete all the same: those
// are among the blocked.
func NewRepair(g *graph.Graph, o RepairOptions) *Plan {
	judge := collector.NewJudge(g)
	r := &repairBuilder{
		graph: g, judge: judge, planner: repair.New(g, judge), options: o, wanted: map[graph.Node]repairWork{}, blocked: map[graph.Node][]reason.Reason{},
	}
	for n := range g.Listed() {
		if node := graph.Node(n); o.Within == nil || o.Within(node) {
			r.choose(node)
		}
	}
	spared := r.protect()
	p := &Plan{
		Mode: Repair, Complete: g.Snapshot().Complete(), Gaps: distinct(g.Snapshot().Gaps),
		Steps: []Step{}, Outcomes: []Outcome{},
	}
	for _, n := range r.nodes() {
		steps, outcome := r.steps(n, len(p.Steps), spared[n])
		p.Steps, p.Outcomes = append(p.Steps, steps...), append(p.Outcomes, outcome)
	}
	p.Blocked = r.blockedObjects()
	p.Finalize()
	return p
}

// repairBuilder is a plan in the making.
type repairBuilder struct {
	graph   *graph.Graph
	judge   *collector.Judge
	planner *repair.Planner
	options RepairOptions
	wanted  map[graph.Node]repairWork // what is done to each object that is mended
	blocked map[graph.Node][]reason.Reason
	// released are the owners whose deletion is under way and ends because of the repair.
	released map[types.UID]bool
}

// nodes are the objects that are mended, in the order of the graph.
func (r *repairBuilder) nodes() []graph.Node { return slices.Sorted(maps.Keys(r.wanted)) }

// choose says what mends the references of one object.
func (r *repairBuilder) choose(n graph.Node) {
	if len(r.graph.Object(n).Owners) == 0 {
		return
	}
	if len(r.options.References) > 0 {
		r.dropRequested(n)
		return
	}
	judgements := r.judge.Object(n)
	if !slices.ContainsFunc(judgements, func(j collector.Judgement) bool { return j.Verdict != collector.Solid }) {
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
		case r.options.Fix == "" || r.options.Named && m.Fix == repair.None: // else it is left out on purpose
			r.reportUnrepaired(n, i, judgements[i], m)
		}
	}
	if !wanted.empty() {
		r.wanted[n] = wanted
	}
}

// dropRequested takes the references of one object away that somebody named.
func (r *repairBuilder) dropRequested(n graph.Node) {
	var wanted repairWork
	if of := r.graph.Object(n); of.Contested {
		r.blocked[n] = append(r.blocked[n], snapshot.Contention(of))
		return
	}
	for i, m := range r.repairs(n) {
		if m.Chosen {
			wanted.add(repair.Unlink, i, m)
		}
	}
	if !wanted.empty() {
		r.wanted[n] = wanted
	}
}

// repairs are what mends each reference of an object, or what a person said.
func (r *repairBuilder) repairs(n graph.Node) []repair.Repair {
	out := r.planner.Object(n)
	for i, of := range r.graph.Object(n).Owners {
		if slices.Contains(r.options.References, of.UID) {
			out[i] = repair.Repair{Fix: repair.Unlink, Chosen: true}
		}
	}
	return out
}

// selects says whether the repair is about references of that kind.
func (r *repairBuilder) selects(j collector.Judgement) bool {
	return j.Verdict != collector.Solid && (len(r.options.Causes) == 0 || slices.Contains(r.options.Causes, j.Cause))
}

// fix is how this repair mends a reference, or None.
func (r *repairBuilder) fix(m repair.Repair) repair.Fix {
	switch wanted := r.options.Fix; {
	case wanted == "" && m.Asked:
		return repair.None
	case wanted == "", wanted == m.Fix:
		return m.Fix
	case wanted == repair.Unlink && m.Fix == repair.Relink: // its owner is as dead
		return repair.Unlink
	}
	return repair.None
}

// reportUnrepaired says why a reference is not mended. Where nobody could find out whether it
// has to be, or it is of no consequence, that is told of named objects only.
func (r *repairBuilder) reportUnrepaired(n graph.Node, i int, j collector.Judgement, m repair.Repair) {
	of := r.graph.Object(n)
	if !r.options.Named && (of.Terminating() || j.Cause == collector.Unverified || j.Cause == collector.Terminating) {
		return
	}
	owner := j.Owner(of.Owners[i])
	owner.Found = m.Found
	left := reason.Unrepaired{Owner: owner, ByHand: m.Asked}
	if last := len(r.blocked[n]) - 1; last >= 0 {
		if before, ok := r.blocked[n][last].(reason.NotRepaired); ok {
			before.References = append(before.References, left)
			r.blocked[n][last] = before
			return
		}
	}
	r.blocked[n] = append(r.blocked[n], reason.NotRepaired{References: []reason.Unrepaired{left}})
}

// blockedObjects are the objects that are not mended, or not enough.
func (r *repairBuilder) blockedObjects() []Blocked {
	out := []Blocked{}
	for n, why := range r.blocked {
		out = append(out, Blocked{Object: r.graph.Object(n).Identity, By: []object.Identity{}, Reason: reason.Combine(why)})
	}
	slices.SortFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}
