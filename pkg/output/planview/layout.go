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

	contents    []object.Identity // deleted with the object, without a step of their own
	terminating int               // how many of the contents are not deleted completely
	pending     int               // how many of the contents are deleted later
}

// layout is the tree of lines of a plan.
type layout struct {
	plan        *plan.Plan
	lines       []line
	lineOf      []int // per step
	byObject    map[object.Identity]int
	roots       []int // lines without parent
	terminating map[object.Identity]*plan.Outcome
	pending     map[object.Identity]bool
	deleted     map[object.Identity]bool
	retained    map[object.Identity]*plan.Retained
	uncertain   map[object.Identity]reason.Reason // what is nondeterministic, and why
}

func newLayout(p *plan.Plan) *layout {
	l := &layout{
		plan: p, lineOf: make([]int, len(p.Steps)), byObject: map[object.Identity]int{},
		terminating: map[object.Identity]*plan.Outcome{}, pending: map[object.Identity]bool{}, deleted: map[object.Identity]bool{}, retained: map[object.Identity]*plan.Retained{},
		uncertain: map[object.Identity]reason.Reason{},
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		switch o.State {
		case plan.Terminating:
			l.terminating[o.Object] = o
		case plan.Pending:
			l.pending[o.Object] = true
		case plan.Deleted:
			l.deleted[o.Object] = true
		case plan.Changed, plan.Unchanged:
		}
		if o.Nondeterministic.Reason != nil {
			l.uncertain[o.Object] = o.Nondeterministic.Reason
		}
	}
	for i := range p.Retained {
		l.retained[p.Retained[i].Object] = &p.Retained[i]
	}
	byID := make(map[string]int, len(p.Steps))
	for i := range p.Steps {
		byID[p.Steps[i].ID] = i
	}
	l.groupSteps()
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		step, known := byID[o.Follows]
		if _, ownLine := l.byObject[o.Object]; !known || ownLine {
			continue
		}
		on := &l.lines[l.lineOf[step]]
		on.contents = append(on.contents, o.Object)
		switch o.State {
		case plan.Terminating:
			on.terminating++
		case plan.Pending:
			on.pending++
		case plan.Deleted, plan.Changed, plan.Unchanged:
		}
	}
	l.setParents(byID)
	l.setChildren()
	return l
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

// deletes reports whether a line deletes its object.
func (l *layout) deletes(i int) bool {
	s := l.main(i)
	return s.Action == plan.ActionDelete || l.plan.Mode == plan.FinalizerRemoval && s.Action == plan.ActionRemoveFinalizer && l.deleted[s.Object.Identity]
}

// whyAlong returns why one of the contents of a line is deleted. A requested removal of a finalizer
// deletes what waited for its object.
func (l *layout) whyAlong(line int, content object.Identity) string {
	switch object := l.main(line).Object; {
	case l.main(line).Action != plan.ActionRemoveFinalizer:
		return withContainer
	case content.IsNamespace(), content.IsCRD():
		return "its deletion can complete, since nothing is left in it"
	case object.Kind == "Pod":
		return "its namespace is being deleted, and no Pod is left in it"
	}
	return withContainer
}

// contentsOf returns what is deleted with a line's object, and how; both are empty if
// nothing is.
func (l *layout) contentsOf(i int) (what, how string) {
	on := &l.lines[i]
	if len(on.contents) == 0 {
		return "", ""
	}
	what, how = wording.Count(len(on.contents), "object")+" in it", withContainer
	if l.main(i).Object.IsCRD() {
		what = wording.Count(len(on.contents), "object") + " of its kind"
	}
	if on.terminating > 0 {
		how += ", " + wording.Thousands(on.terminating) + " of them blocked"
	}
	if on.pending > 0 {
		how += ", " + wording.Thousands(on.pending) + " of them later"
	}
	return what, how
}
