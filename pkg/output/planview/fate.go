package planview

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// fate is what becomes of an object on which there is no step.
type fate struct {
	word   string
	object object.Identity
	reason string // unescaped
	paint  func(string) string
}

// fates are those of what stays, of what is held, of what goes later and of what
// is left alone, each in the order of the plan. What stays after a step on it has a line already.
func (d *drawing) fates() []fate {
	stepped := map[object.Identity]bool{}
	for i := range d.lines {
		stepped[d.main(i).Object.Identity] = true
	}
	var out []fate
	for i := range d.plan.Retained {
		switch s := &d.plan.Retained[i]; {
		case stepped[s.Object]:
		case s.Uncertain:
			out = append(out, fate{"unknown", s.Object, s.Reason.Message(), d.palette.Changes})
		default:
			out = append(out, fate{"keep", s.Object, s.Reason.Message(), d.palette.Stays})
		}
	}
	for _, b := range d.plan.Blocked {
		out = append(out, fate{"blocked", b.Object, b.Reason.Message(), d.palette.Changes})
	}
	for _, l := range d.plan.DeletedLater {
		out = append(out, fate{"delete later", l.Object, l.Reason.Message(), d.palette.Changes})
	}
	for _, k := range d.plan.Kept {
		out = append(out, fate{"leave", k.Object, k.Reason.Message(), d.palette.Dim})
	}
	return out
}

func (d *drawing) fate(f fate) {
	if !d.full() {
		d.add(Row{Action: f.paint(f.word), Object: f.object, Name: f.paint(name(f.object)), Why: escape.Short(f.reason, reasonWidth)})
	}
}

// outlives says why an object stays that loses references.
func (l *layout) outlives(o object.Identity) string {
	s, stays := l.stays[o]
	if !stays || s.DroppedReferences == 0 {
		return ""
	}
	return escape.Short(s.Reason.Message(), reasonWidth) + "; removes " + wording.Count(s.DroppedReferences, "reference")
}

// goesAlong says how something goes that is in a namespace, or of a kind, which
// goes.
func (d *drawing) goesAlong(o object.Identity) string {
	if left := d.left[o]; left != nil {
		return waits(left)
	}
	return "deleted along with it"
}

// staying are the objects that outlive what they depend on.
func staying(p *plan.Plan) map[object.Identity]*plan.Retained {
	out := make(map[object.Identity]*plan.Retained, len(p.Retained))
	for i := range p.Retained {
		out[p.Retained[i].Object] = &p.Retained[i]
	}
	return out
}
