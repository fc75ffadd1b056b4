package planview

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// none is the index of no step, or of no line.
const none = -1

// line is an object with all steps on it.
type line struct {
	main     int   // the most urgent step
	others   []int // the further ones, ascending
	parent   int   // the line that causes this one, or none
	children []int
	outcome  *plan.Outcome // of an object that is deleted without a step of its own; else nil
}

// layout is the tree of lines of a plan.
type layout struct {
	plan     *plan.Plan
	steps    []*plan.Step // of the plan, then one for each object that is deleted without one
	lines    []line
	lineOf   []int // per step
	byObject map[object.Identity]int
	roots    []int // lines without parent
	outcomes map[object.Identity]*plan.Outcome
	retained map[object.Identity]*plan.Retained
	blocked  map[object.Identity]*plan.Blocked
}

func newLayout(p *plan.Plan) *layout {
	l := &layout{
		plan: p, byObject: map[object.Identity]int{}, outcomes: map[object.Identity]*plan.Outcome{},
		retained: map[object.Identity]*plan.Retained{}, blocked: map[object.Identity]*plan.Blocked{},
	}
	for i := range p.Retained {
		l.retained[p.Retained[i].Object] = &p.Retained[i]
	}
	for i := range p.Blocked {
		l.blocked[p.Blocked[i].Object] = &p.Blocked[i]
	}
	byID, stepOn := make(map[string]int, len(p.Steps)), make(map[object.Identity]string, len(p.Steps))
	for i := range p.Steps {
		s := &p.Steps[i]
		l.steps, byID[s.ID], stepOn[s.Object.Identity] = append(l.steps, s), i, s.ID
	}
	l.addOutcomes(byID, stepOn)
	l.groupSteps()
	l.setParents(byID)
	l.setChildren()
	return l
}

// addOutcomes adds a step for each object that is deleted without one. It follows the step on what it
// is in or, in a plan that cascades, on the owner that it waits for.
func (l *layout) addOutcomes(byID map[string]int, stepOn map[object.Identity]string) {
	first := len(l.steps)
	var added []*plan.Outcome
	for i := range l.plan.Outcomes {
		o := &l.plan.Outcomes[i]
		l.outcomes[o.Object] = o
		_, follows := byID[o.Follows]
		if stepOn[o.Object] == "" && (o.When == plan.Later || follows) {
			id := "outcome " + strconv.Itoa(i)
			added, byID[id], stepOn[o.Object] = append(added, o), first+len(added), id
		}
	}
	for _, o := range added {
		s := &plan.Step{ID: stepOn[o.Object], Action: plan.ActionDelete, Object: plan.Object{Identity: o.Object}, Follows: o.Follows}
		if o.When == plan.Later {
			by, follows := byID[o.Follows]
			switch {
			case !l.plan.Mode.Cascades() && !o.AfterNode():
				s.Follows = ""
			case follows && l.steps[by].Object.IsNamespace() && l.steps[by].Object.Name == o.Object.Namespace:
			case len(o.After) > 0:
				s.Follows = stepOn[o.After[0]]
			}
		}
		l.steps = append(l.steps, s)
	}
}

func (l *layout) step(i int) *plan.Step { return l.steps[i] }

// main returns the most urgent step of a line.
func (l *layout) main(i int) *plan.Step { return l.step(l.lines[i].main) }

// groupSteps makes a line of the steps on each object. Of several equally urgent steps the
// first is the main one.
func (l *layout) groupSteps() {
	l.lineOf = make([]int, len(l.steps))
	for i, s := range l.steps {
		at, seen := l.byObject[s.Object.Identity]
		if !seen {
			l.byObject[s.Object.Identity], l.lineOf[i] = len(l.lines), len(l.lines)
			l.lines = append(l.lines, line{main: i, parent: none})
			if i >= len(l.plan.Steps) {
				l.lines[l.lineOf[i]].outcome = l.outcomes[s.Object.Identity]
			}
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

// setParents finds the parent of each line. It breaks cycles, as those of owners that go later because of
// each other.
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

// setChildren sorts roots and children by urgency, with contents first, then in the order of the plan.
func (l *layout) setChildren() {
	all := make([]int, len(l.lines))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(urgency(l.main(a).Action), urgency(l.main(b).Action)),
			cmp.Compare(l.lines[b].contents(), l.lines[a].contents()),
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

// contents returns 1 for an object that is deleted along with another one, and 0 for others.
func (on *line) contents() int {
	if on.outcome != nil && on.outcome.When != plan.Later {
		return 1
	}
	return 0
}

// each calls do with every line from one on, depth first.
func (l *layout) each(from []int, do func(i int)) {
	for next := slices.Clone(from); len(next) > 0; {
		i := next[0]
		next = slices.Concat(l.lines[i].children, next[1:])
		do(i)
	}
}

// outcome returns the outcome for an object; it is empty if the plan has none.
func (l *layout) outcome(o object.Identity) *plan.Outcome {
	if out := l.outcomes[o]; out != nil {
		return out
	}
	return &plan.Outcome{}
}

// deletes reports whether a line deletes its object.
func (l *layout) deletes(i int) bool {
	s := l.main(i)
	removed := l.plan.Mode == plan.FinalizerRemoval && s.Action == plan.ActionRemoveFinalizer
	return s.Action == plan.ActionDelete || removed && l.outcome(s.Object.Identity).State == plan.Deleted
}

// contentsOf returns what is deleted with a line's object without a step of its own, and how; both are
// empty if nothing is.
func (l *layout) contentsOf(i int) (what, how string) {
	in, contents, terminating, later := l.main(i).Object.Identity, 0, 0, 0
	for _, child := range l.lines[i].children {
		o := l.lines[child].outcome
		switch {
		case o == nil:
			continue
		case o.State == plan.Terminating:
			terminating++
		case o.When == plan.Later:
			later++
		}
		contents++
	}
	what, how = wording.Count(contents, "object"), withContainer
	switch {
	case contents == 0:
		return "", ""
	case in.IsCRD():
		what += " of its kind"
	case in.IsNamespace():
		what += " in it"
	default:
		return what, "deleted after it"
	}
	if terminating > 0 {
		how += ", " + wording.Thousands(terminating) + " of them blocked"
	}
	if later > 0 {
		how += ", " + wording.Thousands(later) + " of them later"
	}
	return what, how
}
