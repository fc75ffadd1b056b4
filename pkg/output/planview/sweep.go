package planview

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// sweep is what others delete because a namespace or a CustomResourceDefinition
// goes: what has no step of its own.
type sweep struct {
	members []object.Identity
	left    int // those that stay terminating
}

// sweep counts every object that is taken along at the line that does it.
func (l *layout) sweep(byID map[string]int) {
	own := make(map[object.Identity]bool, len(l.lines))
	for i := range l.lines {
		own[l.main(i).Object.Identity] = true
	}
	for i := range l.plan.Outcomes {
		o := &l.plan.Outcomes[i]
		if by, known := byID[o.Follows]; known && !own[o.Object] {
			l.lines[l.of[by]].swept.add(o)
		}
	}
}

func (s *sweep) add(o *plan.Outcome) {
	s.members = append(s.members, o.Object)
	if o.State == plan.Terminating {
		s.left++
	}
}

// along says what goes along with a line's object, and how; it is empty where
// nothing does.
func (l *layout) along(i int) (what, how string) {
	s := &l.lines[i].swept
	if len(s.members) == 0 {
		return "", ""
	}
	what, how = wording.Count(len(s.members), "object")+" in it", "deleted along with it"
	if l.main(i).Object.IsDefinition() {
		what = wording.Count(len(s.members), "object") + " of its kind"
	}
	if s.left > 0 {
		how += ", " + wording.Thousands(s.left) + " of them blocked"
	}
	return what, how
}

func groupKind(o object.Identity) schema.GroupKind { return o.GroupVersionKind().GroupKind() }
