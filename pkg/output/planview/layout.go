package planview

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// line is an object with all steps on it.
type line struct {
	main     *plan.Step    // the most urgent one; without ID for an object that is deleted without a step
	steps    []*plan.Step  // all of them, in the order of the plan
	order    int           // of the main one
	outcome  *plan.Outcome // of an object that is deleted without a step of its own; else nil
	parent   *line         // the line that causes this one, or nil
	children []*line
}

func (on *line) object() object.Identity { return on.main.Object.Identity }

// layout is the tree of lines of a plan.
type layout struct {
	plan     *plan.Plan
	palette  *color.Palette
	lines    []*line // of the steps, then of the objects that are deleted without one
	byObject map[object.Identity]*line
	roots    []*line // lines without parent
	outcomes map[object.Identity]*plan.Outcome
	retained map[object.Identity]*plan.Retained
	blocked  map[object.Identity]*plan.Blocked
	listed   map[string]bool // see listed
}

func newLayout(p *plan.Plan, palette *color.Palette) *layout {
	l := &layout{
		plan: p, palette: palette, byObject: map[object.Identity]*line{}, outcomes: map[object.Identity]*plan.Outcome{},
		retained: map[object.Identity]*plan.Retained{}, blocked: map[object.Identity]*plan.Blocked{},
		listed: listed(p),
	}
	for i := range p.Retained {
		l.retained[p.Retained[i].Object] = &p.Retained[i]
	}
	for i := range p.Blocked {
		l.blocked[p.Blocked[i].Object] = &p.Blocked[i]
	}
	byID := make(map[string]*plan.Step, len(p.Steps))
	for i := range p.Steps {
		byID[p.Steps[i].ID] = &p.Steps[i]
		l.add(&p.Steps[i], i)
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		l.outcomes[o.Object] = o
		if l.byObject[o.Object] == nil && (o.When == plan.Later || byID[o.Follows] != nil) {
			l.add(&plan.Step{Action: plan.ActionDelete, Object: plan.ObjectState{Identity: o.Object}}, len(p.Steps)+i).outcome = o
		}
	}
	l.setParents(byID)
	l.setChildren()
	return l
}

// add adds a step to the line of its object. Of several equally urgent steps the first is the main one.
func (l *layout) add(s *plan.Step, order int) *line {
	on := l.byObject[s.Object.Identity]
	if on == nil {
		on = &line{main: s, order: order}
		l.byObject[s.Object.Identity] = on
		l.lines = append(l.lines, on)
	} else if urgency(s.Action) < urgency(on.main.Action) {
		on.main, on.order = s, order
	}
	on.steps = append(on.steps, s)
	return on
}

// setParents finds the parent of each line. It breaks cycles, as those of owners that go later because of
// each other.
func (l *layout) setParents(byID map[string]*plan.Step) {
	for _, on := range l.lines {
		if on.outcome != nil {
			on.parent = l.causeOfOutcome(on.outcome, byID[on.outcome.Follows])
		} else {
			on.parent = l.causeOfSteps(on, byID)
		}
	}
	visitedBy := make(map[*line]*line, len(l.lines))
	for _, on := range l.lines {
		for at := on; at != nil && visitedBy[at] == nil; at = at.parent {
			visitedBy[at] = on
			if at.parent != nil && visitedBy[at.parent] == on {
				at.parent = nil
			}
		}
	}
}

// causeOfSteps returns the first line of another object among the causes of a line's main step.
func (l *layout) causeOfSteps(on *line, byID map[string]*plan.Step) *line {
	s := on.main
	for range on.steps {
		if s = byID[s.Follows]; s == nil {
			break
		}
		if cause := l.byObject[s.Object.Identity]; cause != on {
			return cause
		}
	}
	return nil
}

// causeOfOutcome returns the line that an object without a step follows: that of what it is in, by which
// step it is deleted, or, in a plan that cascades, of the owner that it waits for. It returns nil for an
// object that was being deleted before: what that waits for is not its owner.
func (l *layout) causeOfOutcome(o *plan.Outcome, by *plan.Step) *line {
	if o.When == plan.Later {
		switch inNamespace := by != nil && by.Object.IsNamespace() && by.Object.Name == o.Object.Namespace; {
		case !l.plan.Mode.Cascades() && !o.AfterNode() && o.DeletedBy == nil, o.Already && !inNamespace && !o.AfterNode():
			return nil
		case !inNamespace && len(o.After) > 0:
			return l.byObject[o.After[0]]
		}
	}
	if by == nil {
		return nil
	}
	return l.byObject[by.Object.Identity]
}

// setChildren sorts roots and children by urgency, with contents first, then in the order of the plan.
func (l *layout) setChildren() {
	all := slices.Clone(l.lines)
	slices.SortFunc(all, func(a, b *line) int {
		return cmp.Or(
			cmp.Compare(urgency(a.main.Action), urgency(b.main.Action)),
			cmp.Compare(b.contents(), a.contents()),
			cmp.Compare(a.order, b.order))
	})
	for _, on := range all {
		if on.parent != nil {
			on.parent.children = append(on.parent.children, on)
		} else {
			l.roots = append(l.roots, on)
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

// each calls do with every line from these on, depth first.
func each(from []*line, do func(*line)) {
	next := slices.Clone(from)
	slices.Reverse(next)
	for len(next) > 0 {
		on := next[len(next)-1]
		next = next[:len(next)-1]
		for _, child := range slices.Backward(on.children) {
			next = append(next, child)
		}
		do(on)
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
func (l *layout) deletes(on *line) bool {
	removed := l.plan.Mode == plan.FinalizerRemoval && on.main.Action == plan.ActionRemoveFinalizer
	return on.main.Action == plan.ActionDelete || removed && l.outcome(on.object()).State == plan.Deleted
}

// contentsOf returns what is deleted with a line's object without a step of its own, and how; both are
// empty if nothing is.
func contentsOf(on *line) (what, how string) {
	in, contents, terminating, later := on.object(), 0, 0, 0
	for _, child := range on.children {
		o := child.outcome
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
