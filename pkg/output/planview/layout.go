package planview

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// none is no step, or no line.
const none = -1

// line is an object with all steps on it.
type line struct {
	main   int   // the step that says what becomes of the object
	others []int // the further ones, ascending
	above  int   // the line without whose steps this one would not be, or none
	below  []int
	swept  sweep
}

type layout struct {
	plan  *plan.Plan
	lines []line
	of    []int                             // per step, its line
	roots []int                             // lines with none above
	left  map[object.Identity]*plan.Outcome // terminating at the end
	stays map[object.Identity]*plan.Retained
}

// lay folds the steps on one object into a line, and hangs each line under the
// one that it follows.
func lay(p *plan.Plan) *layout {
	l := &layout{plan: p, of: make([]int, len(p.Steps)), left: map[object.Identity]*plan.Outcome{}, stays: staying(p)}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.State == plan.Terminating {
			l.left[o.Object] = o
		}
	}
	byID := make(map[string]int, len(p.Steps))
	for i := range p.Steps {
		byID[p.Steps[i].ID] = i
	}
	l.fold()
	l.sweep(byID)
	l.hang(byID)
	l.order()
	return l
}

func (l *layout) step(i int) *plan.Step { return &l.plan.Steps[i] }

// main is the step that says what becomes of a line's object.
func (l *layout) main(i int) *plan.Step { return l.step(l.lines[i].main) }

// fold makes the most urgent step on an object its main one, the first of
// several.
func (l *layout) fold() {
	lineOf := map[object.Identity]int{}
	for i := range l.plan.Steps {
		s := l.step(i)
		at, seen := lineOf[s.Object.Identity]
		if !seen {
			at = len(l.lines)
			lineOf[s.Object.Identity] = at
			l.lines = append(l.lines, line{main: i, above: none})
		}
		l.of[i] = at
		if !seen {
			continue
		}
		on := &l.lines[at]
		on.others = append(on.others, i)
		if urgency(s.Action) < urgency(l.step(on.main).Action) {
			on.others[len(on.others)-1], on.main = on.main, i
			slices.Sort(on.others)
		}
	}
}

// hang finds what each line follows. Where lines follow each other in a circle,
// which only a file can say, one of them follows none.
func (l *layout) hang(byID map[string]int) {
	for i := range l.lines {
		l.lines[i].above = l.followed(i, byID)
	}
	met := make([]int, len(l.lines)) // by which walk
	for i := range l.lines {
		for at := i; at != none && met[at] == 0; at = l.lines[at].above {
			met[at] = i + 1
			if above := l.lines[at].above; above != none && met[above] == i+1 {
				l.lines[at].above = none
			}
		}
	}
}

// followed is the line of the step that those on a line's object go back to.
func (l *layout) followed(i int, byID map[string]int) int {
	for at := l.lines[i].main; ; {
		before, known := byID[l.step(at).Follows]
		switch {
		case !known:
			return none
		case l.of[before] != i:
			return l.of[before]
		case before >= at:
			return none
		}
		at = before
	}
}

// order puts siblings in the order of urgency, and else in that of the plan.
func (l *layout) order() {
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
		if above := l.lines[i].above; above != none {
			l.lines[above].below = append(l.lines[above].below, i)
		} else {
			l.roots = append(l.roots, i)
		}
	}
}

// deletes says whether a step of the line deletes its object.
func (l *layout) deletes(i int) bool { return l.main(i).Action == collector.ActionDelete }
