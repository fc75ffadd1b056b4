package plan

import (
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/mend"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// RepairOptions say which references a repair mends, and how. The zero value mends
// everything that can be.
type RepairOptions struct {
	// Within says which objects are mended. Nil: all that a list showed.
	Within func(graph.Node) bool
	// Causes are those of the references that are mended. Empty: all.
	Causes []collector.Cause
	// Fix is the only one that is made; Unlink takes away a reference that could
	// be relinked, too, and one of which only a person can say that it leads
	// nowhere. Empty: what fits each reference, save that last one.
	Fix mend.Fix
	// Named says that the objects were named one by one, so that it is told of each
	// why it is not mended, even if nobody knows whether it has to be.
	Named bool
}

// MakeRepair plans to mend references that lead to no owner, so that the collector does
// not act on them. Nothing is deleted by it, and no solid reference changes. An
// object is left alone where that would have the collector delete it which leaves
// it alone as it is.
//
// Besides what the steps do it foretells, by the collector's model, what would
// become of each object without them, and which it would delete all the same: those
// are among the blocked.
func MakeRepair(g *graph.Graph, o RepairOptions) *Plan {
	judge := collector.NewJudge(g)
	r := &repair{
		graph: g, judge: judge, mender: mend.New(g, judge), options: o, wanted: map[graph.Node]operation{}, blocked: map[graph.Node][]string{},
	}
	for n := range g.Listed() {
		if node := graph.Node(n); o.Within == nil || o.Within(node) {
			r.choose(node)
		}
	}
	spared, lost := r.foretell()
	p := &Plan{
		Mode: Repair, Complete: g.Snapshot().Complete(), Gaps: append([]snapshot.Gap{}, g.Snapshot().Gaps...),
		Steps: []Step{}, Outcomes: []Outcome{},
	}
	for _, n := range r.nodes() {
		steps, outcome := r.steps(n, len(p.Steps), spared[n])
		p.Steps, p.Outcomes = append(p.Steps, steps...), append(p.Outcomes, outcome)
		if why := lost[n]; why != "" {
			r.blocked[n] = append(r.blocked[n], "would be deleted all the same: "+why)
		}
	}
	p.Blocked = r.held()
	p.Seal()
	return p
}

// repair is a plan in the making.
type repair struct {
	graph   *graph.Graph
	judge   *collector.Judge
	mender  *mend.Mender
	options RepairOptions
	wanted  map[graph.Node]operation // what is done to each object that is mended
	blocked map[graph.Node][]string
}

// nodes are the objects that are mended, in the order of the graph.
func (r *repair) nodes() []graph.Node { return slices.Sorted(maps.Keys(r.wanted)) }

// choose says what mends the references of one object.
func (r *repair) choose(n graph.Node) {
	if len(r.graph.Object(n).Owners) == 0 {
		return
	}
	judgements := r.judge.Object(n)
	if !slices.ContainsFunc(judgements, func(j collector.Judgement) bool { return j.Verdict != collector.Solid }) {
		return
	}
	var wanted operation
	for i, m := range r.mender.Object(n) {
		if !r.speaksOf(judgements[i]) {
			continue
		}
		switch fix := r.fix(m); {
		case fix != mend.None:
			wanted.add(fix, i, m)
		case r.options.Fix == "" || r.options.Named && m.Fix == mend.None: // else it is left out on purpose
			r.leave(n, i, judgements[i], m)
		}
	}
	if !wanted.empty() {
		r.wanted[n] = wanted
	}
}

// speaksOf says whether the repair is about references of that kind.
func (r *repair) speaksOf(j collector.Judgement) bool {
	return j.Verdict != collector.Solid && (len(r.options.Causes) == 0 || slices.Contains(r.options.Causes, j.Cause))
}

// fix is how this repair mends a reference, or None.
func (r *repair) fix(m mend.Mend) mend.Fix {
	switch wanted := r.options.Fix; {
	case wanted == "" && m.Asked:
		return mend.None
	case wanted == "", wanted == m.Fix:
		return m.Fix
	case wanted == mend.Unlink && m.Fix == mend.Relink: // its owner is as dead
		return mend.Unlink
	}
	return mend.None
}

// leave says why a reference is not mended. Where nobody could find out whether it
// has to be, or it is of no consequence, that is told of named objects only.
func (r *repair) leave(n graph.Node, i int, j collector.Judgement, m mend.Mend) {
	of := r.graph.Object(n)
	if !r.options.Named && (of.Terminating() || j.Cause == collector.Unverified || j.Cause == collector.Terminating) {
		return
	}
	said := of.Owners[i].String() + " " + m.Why
	if m.Asked {
		said += " (to drop the reference all the same: --fix unlink)"
	}
	r.blocked[n] = append(r.blocked[n], said)
}

// operation is all that is done to the references of one object.
type operation struct {
	relink, reversion []object.Rewrite
	drop              []int
}

func (p *operation) add(fix mend.Fix, i int, m mend.Mend) {
	switch fix {
	case mend.Relink:
		p.relink = append(p.relink, object.Rewrite{Index: i, Reference: m.Becomes})
	case mend.Reversion:
		p.reversion = append(p.reversion, object.Rewrite{Index: i, Reference: m.Becomes})
	case mend.Unlink:
		p.drop = append(p.drop, i)
	case mend.None:
	}
}

func (p *operation) empty() bool { return len(p.relink)+len(p.reversion)+len(p.drop) == 0 }

// parts are the changes of an operation by their action: first those that give the
// object an owner that holds, since a collector that is at work may come in between.
// None of them moves a reference that one after it names.
func (p *operation) parts() []part {
	var out []part
	for _, of := range []part{
		{Relink, object.Change{Rewrite: p.relink}}, {Reversion, object.Change{Rewrite: p.reversion}}, {collector.Detach, object.Change{Drop: p.drop}},
	} {
		if !of.change.Empty() {
			out = append(out, of)
		}
	}
	return out
}

type part struct {
	action collector.Act
	change object.Change
}

// steps are those on one object, the first of which is the at-th of the plan.
// Spared is what the collector would do without them.
func (r *repair) steps(n graph.Node, at int, spared collector.Consequence) ([]Step, Outcome) {
	o, judgements, mends, wanted := r.graph.Object(n), r.judge.Object(n), r.mender.Object(n), r.wanted[n]
	before, verdicts := o, collector.Verdicts(judgements)
	var out []Step
	for k, of := range wanted.parts() {
		move := &collector.Move{
			Decision: collector.Decision{Act: of.action, Change: of.change, Culprit: -1},
			Pass:     1, Node: n, Before: before, Verdicts: slices.Clone(verdicts), For: graph.None, Follows: -1,
		}
		s := Step{
			ID: id(at + k), Pass: 1, Action: of.action, After: []string{}, Move: move,
			Object: Object{Identity: o.Identity, ResourceVersion: o.ResourceVersion},
		}
		if k > 0 {
			move.Follows, move.After = at+k-1, []int{at + k - 1}
			s.Follows, s.After = id(at+k-1), []string{id(at + k - 1)}
		}
		for _, i := range of.change.Touched() {
			s.References = append(s.References, referenceOf(before.Owners[i], judgements[i], mends[i], of.action))
			s.Mends = append(s.Mends, mends[i])
		}
		s.OwnerUIDs = owners(s.References)
		s.Reason = whyMended(move, s)
		if k == 0 {
			s.Reason += otherwise(spared)
		}
		out = append(out, s)
		for _, w := range of.change.Rewrite {
			verdicts[w.Index] = collector.Solid
		}
		after := of.change.Apply(*before)
		before = &after
	}
	return out, Outcome{Object: o.Identity, State: Changed, WaitsFor: []string{}, Otherwise: spared}
}

func referenceOf(r object.Reference, j collector.Judgement, m mend.Mend, action collector.Act) Reference {
	out := Reference{Reference: *audit.ReferenceOf(r), Verdict: j.Verdict, Evidence: found(j)}
	if action != collector.Detach {
		out.Becomes = audit.ReferenceOf(m.Becomes)
	}
	return out
}

// held are the objects that are not mended, or not enough.
func (r *repair) held() []Blocked {
	out := []Blocked{}
	for n, why := range r.blocked {
		out = append(out, Blocked{Object: r.graph.Object(n).Identity, By: []object.Identity{}, Reason: sentence(why)})
	}
	slices.SortFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}
