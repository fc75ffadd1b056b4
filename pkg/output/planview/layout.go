package planview

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// none is the index of no step, or of no line.
const none = -1

// line is an object with all steps on it.
type line struct {
	main     int   // the most urgent step
	others   []int // the further ones, ascending
	parent   int   // the line that causes this one, or none
	children []int
}

// layout is the tree of lines of a plan.
type layout struct {
	plan     *plan.Plan
	lines    []line
	lineOf   []int // per step
	byObject map[object.Identity]int
	roots    []int // lines without parent
	outcomes map[object.Identity]*plan.Outcome
	// below are the outcomes of objects without a line that are deleted because of another object, and
	// alone those of others that are deleted later.
	below    map[object.Identity][]*plan.Outcome
	alone    []*plan.Outcome
	retained map[object.Identity]*plan.Retained
	blocked  map[object.Identity]reason.Reason
}

func newLayout(p *plan.Plan) *layout {
	l := &layout{
		plan: p, lineOf: make([]int, len(p.Steps)), byObject: map[object.Identity]int{},
		outcomes: map[object.Identity]*plan.Outcome{}, below: map[object.Identity][]*plan.Outcome{},
		retained: map[object.Identity]*plan.Retained{}, blocked: map[object.Identity]reason.Reason{},
	}
	for i := range p.Outcomes {
		l.outcomes[p.Outcomes[i].Object] = &p.Outcomes[i]
	}
	for i := range p.Retained {
		l.retained[p.Retained[i].Object] = &p.Retained[i]
	}
	for i := range p.Blocked {
		l.blocked[p.Blocked[i].Object] = p.Blocked[i].Reason
	}
	byID := make(map[string]int, len(p.Steps))
	for i := range p.Steps {
		byID[p.Steps[i].ID] = i
	}
	l.groupSteps()
	l.placeOutcomes(byID)
	l.setParents(byID)
	l.setChildren()
	return l
}

// placeOutcomes places what has no line: contents of an object below it, and in a plan that cascades
// what is deleted later below an owner. What a line cannot reach so stands alone.
func (l *layout) placeOutcomes(byID map[string]int) {
	var later []*plan.Outcome
	for i := range l.plan.Outcomes {
		o := &l.plan.Outcomes[i]
		step, follows := byID[o.Follows]
		switch _, ownLine := l.byObject[o.Object]; {
		case ownLine || o.When != plan.Later && !follows:
		case o.When != plan.Later || l.plan.Mode.Cascades() && follows && l.step(step).Object.IsNamespace() && l.step(step).Object.Name == o.Object.Namespace:
			by := l.step(step).Object.Identity
			l.below[by] = append(l.below[by], o)
		case l.plan.Mode.Cascades() && len(o.After) > 0:
			l.below[o.After[0]] = append(l.below[o.After[0]], o)
			later = append(later, o)
		default:
			l.alone = append(l.alone, o)
		}
	}
	placed := map[object.Identity]bool{}
	place := func(from object.Identity) {
		for next := []object.Identity{from}; len(next) > 0; next = next[1:] {
			if !placed[next[0]] {
				placed[next[0]] = true
				for _, o := range l.below[next[0]] {
					next = append(next, o.Object)
				}
			}
		}
	}
	for o := range l.byObject {
		place(o)
	}
	for _, o := range l.alone {
		place(o.Object)
	}
	unreachable, parents := map[*plan.Outcome]bool{}, map[object.Identity]bool{}
	for _, o := range later {
		if !placed[o.Object] {
			l.alone = append(l.alone, o)
			unreachable[o], parents[o.After[0]] = true, true
			place(o.Object)
		}
	}
	for parent := range parents {
		l.below[parent] = slices.DeleteFunc(l.below[parent], func(o *plan.Outcome) bool { return unreachable[o] })
	}
}

func (l *layout) step(i int) *plan.Step { return &l.plan.Steps[i] }

// main returns the most urgent step of a line.
func (l *layout) main(i int) *plan.Step { return l.step(l.lines[i].main) }

// groupSteps makes a line of the steps on each object. Of several equally urgent steps the
// first is the main one.
func (l *layout) groupSteps() {
	for i := range l.plan.Steps {
		s := l.step(i)
		at, seen := l.byObject[s.Object.Identity]
		if !seen {
			l.byObject[s.Object.Identity], l.lineOf[i] = len(l.lines), len(l.lines)
			l.lines = append(l.lines, line{main: i, parent: none})
			continue
		}
		l.lineOf[i] = at
		on := &l.lines[at]
		on.others = append(on.others, i)
		if urgency(s.Action) < urgency(l.step(on.main).Action) {
			on.others[len(on.others)-1], on.main = on.main, i
			slices.Sort(on.others)
		}
	}
}

// setParents finds the parent of each line. It breaks cycles, which only a plan from a file
// can have.
func (l *layout) setParents(byID map[string]int) {
	for i := range l.lines {
		l.lines[i].parent = l.parentOf(i, byID)
	}
	visitedBy := make([]int, len(l.lines))
	for i := range l.lines {
		for at := i; at != none && visitedBy[at] == 0; at = l.lines[at].parent {
			visitedBy[at] = i + 1
			if parent := l.lines[at].parent; parent != none && visitedBy[parent] == i+1 {
				l.lines[at].parent = none
			}
		}
	}
}

// parentOf returns the first line of another object among the causes of a line's main step.
func (l *layout) parentOf(i int, byID map[string]int) int {
	for at := l.lines[i].main; ; {
		before, known := byID[l.step(at).Follows]
		switch {
		case !known:
			return none
		case l.lineOf[before] != i:
			return l.lineOf[before]
		case before >= at:
			return none
		}
		at = before
	}
}

// setChildren sorts roots and children by urgency, then in the order of the plan.
func (l *layout) setChildren() {
	all := make([]int, len(l.lines))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(urgency(l.main(a).Action), urgency(l.main(b).Action)),
			cmp.Compare(l.lines[a].main, l.lines[b].main))
	})
	for _, i := range all {
		if parent := l.lines[i].parent; parent != none {
			l.lines[parent].children = append(l.lines[parent].children, i)
		} else {
			l.roots = append(l.roots, i)
		}
	}
}

// eachBelow calls do with everything that has no line and is deleted because of an object, and with
// the object above it.
func (l *layout) eachBelow(from object.Identity, do func(above object.Identity, o *plan.Outcome)) {
	for next := []object.Identity{from}; len(next) > 0; next = next[1:] {
		for _, o := range l.below[next[0]] {
			do(next[0], o)
			next = append(next, o.Object)
		}
	}
}

// later returns the outcome of an object that is deleted later, or nil.
func (l *layout) later(o object.Identity) *plan.Outcome {
	if out := l.outcomes[o]; out != nil && out.When == plan.Later {
		return out
	}
	return nil
}

// terminating returns the outcome of an object that is terminating after the run, or nil.
func (l *layout) terminating(o object.Identity) *plan.Outcome {
	if out := l.outcomes[o]; out != nil && out.State == plan.Terminating {
		return out
	}
	return nil
}

// uncertain returns why the outcome for an object may differ, or nil if it cannot.
func (l *layout) uncertain(o object.Identity) reason.Reason {
	if out := l.outcomes[o]; out != nil {
		return out.Nondeterministic.Reason
	}
	return nil
}

// deletes reports whether a line deletes its object.
func (l *layout) deletes(i int) bool {
	s := l.main(i)
	out := l.outcomes[s.Object.Identity]
	return s.Action == plan.ActionDelete || l.plan.Mode == plan.FinalizerRemoval && s.Action == plan.ActionRemoveFinalizer && out != nil && out.State == plan.Deleted
}

// contentsOf returns what is deleted with a line's object, and how; both are empty if
// nothing is.
func (l *layout) contentsOf(i int) (what, how string) {
	in := l.main(i).Object.Identity
	contents := l.below[in]
	if len(contents) == 0 {
		return "", ""
	}
	what, how = wording.Count(len(contents), "object")+" in it", withContainer
	switch {
	case in.IsCRD():
		what = wording.Count(len(contents), "object") + " of its kind"
	case !in.IsNamespace():
		return wording.Count(len(contents), "object"), "deleted after it"
	}
	terminating, later := 0, 0
	for _, o := range contents {
		switch {
		case o.State == plan.Terminating:
			terminating++
		case o.When == plan.Later:
			later++
		}
	}
	if terminating > 0 {
		how += ", " + wording.Thousands(terminating) + " of them blocked"
	}
	if later > 0 {
		how += ", " + wording.Thousands(later) + " of them later"
	}
	return what, how
}
