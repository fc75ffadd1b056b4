package audit

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Settlement counts the objects of pending findings by what a later read of them showed.
type Settlement struct {
	After      metav1.Duration `json:"after"`      // the least time between the scan and that read
	InProgress int             `json:"inProgress"` // gone or changed: no longer reported
	Remaining  int             `json:"remaining"`  // as the scan showed them
	Unread     int             `json:"unread"`     // could not be read again
	First      object.Identity `json:"-"`          // of the remaining ones; the zero value if there are none
}

func (s *Settlement) add(o *Settlement) {
	s.After = o.After // of all clusters of a report
	s.InProgress += o.InProgress
	s.Remaining += o.Remaining
	s.Unread += o.Unread
}

// Reread is the result of reading an object again.
type Reread struct {
	Object *object.Object // nil if the object is gone, or if Failed is not
	Failed error          // not nil if the state of the object is unknown
}

// Pending returns the objects that the garbage collector will delete or whose references it will
// remove, according to the findings. Each is returned once.
func (r *Report) Pending() []object.Identity {
	var out []object.Identity
	for i := range r.Findings {
		if f := &r.Findings[i]; removesObjectOrReference(f) && (len(out) == 0 || out[len(out)-1] != f.Object) {
			out = append(out, f.Object) // findings are sorted by object
		}
	}
	return out
}

// Settle removes the findings about pending objects that are gone or changed, because the garbage
// collector has processed them since the scan, and adds evidence to the others. again holds every
// pending object, read again at least after the scan ended.
func (r *Report) Settle(again map[object.Identity]Reread, after time.Duration) {
	settled := &Settlement{After: metav1.Duration{Duration: after}}
	changed := map[object.Identity]bool{}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		now, pending := again[f.Object]
		if !pending || now.Failed != nil {
			return false
		}
		if now.Object == nil || removesObjectOrReference(&f) && hasChanged(now.Object, f.Reference) {
			changed[f.Object] = true
			return true
		}
		return false
	})
	for i := range r.Findings {
		f := &r.Findings[i]
		if now, pending := again[f.Object]; pending && removesObjectOrReference(f) {
			f.Evidence = evidence(now, settled.After)
			if now.Failed == nil && !changed[f.Object] && settled.First == (object.Identity{}) {
				settled.First = f.Object
			}
		}
	}
	for at, now := range again {
		switch {
		case now.Failed != nil:
			settled.Unread++
		case changed[at]:
			settled.InProgress++
		default:
			settled.Remaining++
		}
	}
	r.Settled = settled
	r.count()
}

// hasChanged reports whether an object is being deleted now, or no longer has the reference. A flag that is
// unset means the same as one that is false.
func hasChanged(now *object.Object, of *object.Reference) bool {
	same := func(r object.Reference) bool { return r.Equivalent(*of) && r.Controls() == of.Controls() }
	return now.Terminating() || !slices.ContainsFunc(now.Owners, same)
}

func evidence(now Reread, after metav1.Duration) *reason.Reason {
	if now.Failed != nil {
		return reason.NotReadAgain(now.Failed.Error())
	}
	return reason.NotProcessed(after)
}
