package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Write is the DELETE or the UPDATE of an object.
type Write struct {
	UID       types.UID
	Operation string // DELETE or UPDATE
}

// Answers are what admission answered dry runs of writes that a plan foresees. A write that it does not concern has none.
type Answers map[Write]reason.AdmissionAnswer

// Uncertain reports whether a write itself may get another answer.
func (a Answers) Uncertain() bool {
	for _, answer := range a {
		if !answer.Certain() {
			return true
		}
	}
	return false
}

// StillHold returns the answers about objects that have not changed since the scan they are of.
func (a Answers) StillHold(then, now *Snapshot) Answers {
	out, states := Answers{}, map[types.UID]string{}
	if len(a) == 0 {
		return out
	}
	for _, o := range then.Objects {
		states[o.UID] = o.ResourceVersion
	}
	for _, o := range now.Objects {
		for _, operation := range []string{"DELETE", "UPDATE"} {
			if answer, asked := a[Write{o.UID, operation}]; asked && o.ResourceVersion == states[o.UID] {
				out[Write{o.UID, operation}] = answer
			}
		}
	}
	return out
}

// ShowsNone reports whether a scan shows that there is no object of a cluster-scoped type.
func (s *Snapshot) ShowsNone(t Type) bool {
	return NewView(s).Listed(t.GroupResource(), "") && !slices.ContainsFunc(s.Objects, func(o *object.Object) bool {
		return o.Kind == t.Kind && o.GroupVersionKind().Group == t.Group
	})
}

// ShowsNoAdmission reports whether a scan shows that there are no admission webhooks and no bound admission policies.
func (s *Snapshot) ShowsNoAdmission() bool {
	for _, t := range s.Types {
		if t.Group == "admissionregistration.k8s.io" && t.Preferred && !s.ShowsNone(t) {
			return false
		}
	}
	return true
}

// Admission returns what admission answered to a write of an object: the zero value where it accepts it.
func (s *Snapshot) Admission(uid types.UID, operation string) reason.AdmissionAnswer {
	if len(s.Answers) == 0 {
		return reason.AdmissionAnswer{}
	}
	return s.Answers[Write{uid, operation}]
}
