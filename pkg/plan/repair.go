package plan

import (
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

// Repair plans to mend references that lead to no owner, so that the collector does
// not act on them. Nothing is deleted by it, and no solid reference changes. An
// object is left alone where that would have the collector delete it which leaves
// it alone as it is.
//
// Besides what the steps do it foretells, by the collector's model, what would
// become of each object without them, and which it would delete all the same: those
// are among the blocked.
func Repair(g *graph.Graph, o RepairOptions) *Plan {
	judge := collector.NewJudge(g)
	r := &repair{
		graph: g, judge: judge, mender: mend.New(g, judge), options: o,
		repaired: *g.Snapshot(), blocked: map[graph.Node][]string{},
	}
	r.repaired.Objects = slices.Clone(r.repaired.Objects)
	for n := range g.Listed() {
		if node := graph.Node(n); o.Within == nil || o.Within(node) {
			r.mend(node)
		}
	}
	r.foretell()
	p := &Plan{
		Mode: RepairMode, Complete: g.Snapshot().Complete(), Gaps: append([]snapshot.Gap{}, g.Snapshot().Gaps...),
		Steps: append([]Step{}, r.steps...), Outcomes: append([]Outcome{}, r.outcomes...), Blocked: r.held(),
	}
	p.finish()
	return p
}

// repair is a plan in the making.
type repair struct {
	graph   *graph.Graph
	judge   *collector.Judge
	mender  *mend.Mender
	options RepairOptions

	steps    []Step
	outcomes []Outcome
	mended   []graph.Node      // one per outcome
	repaired snapshot.Snapshot // as the steps leave it
	blocked  map[graph.Node][]string
}

// mend plans what mends the references of one object.
func (r *repair) mend(n graph.Node) {
	o := r.graph.Object(n)
	if len(o.Owners) == 0 {
		return
	}
	judgements := r.judge.Object(n)
	if !slices.ContainsFunc(judgements, func(j collector.Judgement) bool { return j.Verdict != collector.Solid }) {
		return
	}
	mends := r.mender.Object(n)
	var wanted operation
	for i, m := range mends {
		if !r.speaksOf(judgements[i]) {
			continue
		}
		switch fix := r.fix(m); {
		case fix != mend.None:
			wanted.add(fix, i, m)
		case m.Fix == mend.None || m.Asked:
			r.leave(n, i, judgements[i], m)
		}
	}
	if wanted.empty() {
		return
	}
	verdicts := collector.Verdicts(judgements)
	if left := wanted.leaves(verdicts); collector.Weigh(o, verdicts).Of(collector.Dangling) != collector.Delete && doomed(left) {
		r.blocked[n] = append(r.blocked[n], "is left as it is: mended in part, the collector would delete it, which now cannot judge it")
		return
	}
	r.plan(n, judgements, mends, wanted)
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

// leaves are the verdicts on the references that are left.
func (p *operation) leaves(verdicts []collector.Verdict) []collector.Verdict {
	left := slices.Clone(verdicts)
	for _, w := range slices.Concat(p.relink, p.reversion) {
		left[w.Index] = collector.Solid
	}
	for _, i := range slices.Backward(p.drop) {
		left = slices.Delete(left, i, i+1)
	}
	return left
}

// doomed says whether the collector deletes an object for such references.
func doomed(verdicts []collector.Verdict) bool {
	lost := false
	for _, v := range verdicts {
		if !v.Lost() {
			return false
		}
		lost = true
	}
	return lost
}

// plan adds the steps on one object: first those that give it an owner that holds,
// since a collector that is at work may come in between.
func (r *repair) plan(n graph.Node, judgements []collector.Judgement, mends []mend.Mend, wanted operation) {
	before, verdicts, previous := r.graph.Object(n), collector.Verdicts(judgements), -1
	for _, of := range []struct {
		action collector.Act
		change object.Change
	}{
		{Relink, object.Change{Rewrite: wanted.relink}},
		{Reversion, object.Change{Rewrite: wanted.reversion}},
		{collector.Detach, object.Change{Drop: wanted.drop}},
	} {
		if of.change.Empty() {
			continue
		}
		move := &collector.Move{
			Decision: collector.Decision{Act: of.action, Change: of.change, Culprit: -1},
			Pass:     1, Node: n, Before: before, Verdicts: slices.Clone(verdicts), For: graph.None, Follows: previous,
		}
		s := Step{
			ID: id(len(r.steps)), Pass: 1, Action: of.action, After: []string{}, Move: move,
			Object: Object{Identity: before.Identity, ResourceVersion: r.graph.Object(n).ResourceVersion},
		}
		if previous >= 0 {
			move.After, s.After, s.Follows = []int{previous}, []string{id(previous)}, id(previous)
		}
		for _, i := range of.change.Touched() {
			s.References = append(s.References, referenceOf(before.Owners[i], judgements[i], mends[i], of.action))
			s.Mends = append(s.Mends, mends[i])
		}
		s.OwnerUIDs = owners(s.References)
		s.Reason = whyMended(move, s)
		previous = len(r.steps)
		r.steps = append(r.steps, s)
		for _, w := range of.change.Rewrite {
			verdicts[w.Index] = collector.Solid
		}
		after := of.change.Apply(*before)
		before = &after
	}
	r.repaired.Objects[n] = *before
	r.mended = append(r.mended, n)
	r.outcomes = append(r.outcomes, Outcome{
		Object: before.Identity, State: Changed, WaitsFor: []string{},
		Otherwise: collector.Weigh(r.graph.Object(n), collector.Verdicts(judgements)).Of(collector.Dangling),
	})
}

func referenceOf(r object.Reference, j collector.Judgement, m mend.Mend, action collector.Act) Reference {
	out := Reference{Reference: *audit.ReferenceOf(r), Verdict: j.Verdict, Evidence: found(j)}
	if action != collector.Detach {
		out.Becomes = audit.ReferenceOf(m.Becomes)
	}
	return out
}

// foretell says of each mended object what the collector would do without the
// repair, and which it deletes in spite of it.
func (r *repair) foretell() {
	if len(r.steps) == 0 {
		return
	}
	now := collector.NewModel(r.graph, r.judge).Simulate(collector.Bounds{}).Model
	g := graph.New(&r.repaired)
	judge := collector.NewJudge(g)
	then := maker{graph: g, judge: judge, course: collector.NewModel(g, judge).Simulate(collector.Bounds{})}
	first := map[graph.Node]int{}
	for i := range then.course.Moves {
		m := &then.course.Moves[i]
		if _, seen := first[m.Node]; !seen && m.Act == collector.Remove {
			first[m.Node] = i
		}
	}
	for i, n := range r.mended {
		o := r.graph.Object(n)
		if goes(now.Object(n)) && !o.Terminating() {
			r.outcomes[i].Otherwise = collector.Delete
		}
		after := g.Find(o.UID)
		if !goes(then.course.Model.Object(after)) {
			continue
		}
		why := "what it is in goes"
		if at, deleted := first[after]; deleted {
			why = then.step(at).Reason
		}
		r.blocked[n] = append(r.blocked[n], "would be deleted all the same: "+why)
	}
	said := map[string]bool{}
	for i := range r.steps {
		s := &r.steps[i]
		if uid := string(s.Object.UID); !said[uid] {
			said[uid] = true
			at, _ := slices.BinarySearch(r.mended, s.Move.Node)
			s.Reason += otherwise(r.outcomes[at].Otherwise)
		}
	}
}

// goes says whether a model left nothing of an object, or will.
func goes(o *object.Object) bool { return o == nil || o.Terminating() }

// held are the objects that are not mended, or not enough.
func (r *repair) held() []Blocked {
	out := []Blocked{}
	for n, why := range r.blocked {
		out = append(out, Blocked{Object: r.graph.Object(n).Identity, By: []object.Identity{}, Reason: sentence(why)})
	}
	slices.SortFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}
