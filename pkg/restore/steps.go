package restore

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Work is how a step of a Restoration is done. References to what has yet to be
// made carry the UID of then.
type Work struct {
	// Add are the references that the object is made with, or that it gets.
	Add []Addition
	// Settle says of a controller that what it adopts is made shortly before: it
	// has to have been seen by those who watch.
	Settle bool
	// Adopted says of a link that the owner is a controller that does it by itself,
	// given time.
	Adopted bool
	// Defines are the types that have to be served before the step is over.
	Defines []snapshot.Type

	saved Saved // of a create
}

// Addition is a reference that an object gets.
type Addition struct {
	object.Reference
	Over []object.Reference // of a link: those in the stead of which it comes
}

// Work is how the i-th step is done.
func (r *Restoration) Work(i int) *Work { return &r.works[i] }

// steps returns what is done: first what is made, in its order, then what is linked.
func (m *maker) steps(order []*subject, after [][]int) (steps []plan.Step, works []Work) {
	steps = []plan.Step{}
	for at, s := range order {
		step := m.step(len(steps), plan.Create, s.bearer)
		step.Object.ResourceVersion, step.Manifest = s.saved.ResourceVersion, s.saved.SHA256
		work := Work{saved: s.saved, Defines: s.types}
		for _, before := range after[at] {
			step.After = append(step.After, id(before))
			work.Settle = work.Settle || s.kind.adopts && order[before].ownedBy(s)
		}
		for _, w := range s.bearer.wants {
			if w.kept && !w.later {
				work.Add = append(work.Add, Addition{Reference: w.ref})
				step.References = append(step.References, w.reference())
			}
		}
		step.OwnerUIDs, step.Follows = owners(step.References), follows(s.bearer)
		step.Reason = s.bearer.reason()
		steps, works = append(steps, step), append(works, work)
	}
	for _, b := range m.inOrder(order) {
		var work Work
		step := m.step(len(steps), plan.Link, b)
		if b.now != nil {
			step.Object.ResourceVersion = b.now.ResourceVersion
		} else {
			step.After = append(step.After, id(b.made.at))
		}
		for _, w := range b.wants {
			if !w.kept || b.now == nil && !w.later {
				continue
			}
			add := Addition{Reference: w.ref}
			for _, i := range w.over {
				add.Over = append(add.Over, b.now.Owners[i])
			}
			work.Add = append(work.Add, add)
			step.References = append(step.References, w.reference())
			if w.owner != nil && !w.owner.made() {
				work.Adopted = work.Adopted || adopting(w.ref) && w.ref.Controls()
				if w.owner != b.made {
					step.After = append(step.After, id(w.owner.at))
				}
			}
		}
		if len(work.Add) > 0 {
			step.OwnerUIDs, step.Follows, step.Reason = owners(step.References), follows(b), b.reason()
			steps, works = append(steps, step), append(works, work)
		}
	}
	return steps, works
}

func (m *maker) step(n int, action collector.Action, b *referenceHolder) plan.Step {
	return plan.Step{
		ID: id(n), Pass: 1, Action: action, Object: plan.Object{Identity: b.object},
		After: []string{}, References: []plan.Reference{}, OwnerUIDs: []string{},
	}
}

func id(step int) string { return strconv.Itoa(step + 1) }

// ownedBy says whether an object is linked to a controller that is made after it.
func (s *subject) ownedBy(owner *subject) bool {
	for _, w := range s.bearer.wants {
		if w.owner == owner && w.later {
			return true
		}
	}
	return false
}

// inOrder are the bearers, those that are made first, in the order in which they
// are.
func (m *maker) inOrder(order []*subject) []*referenceHolder {
	out := make([]*referenceHolder, 0, len(m.bearers))
	for _, s := range order {
		out = append(out, s.bearer)
	}
	for _, b := range m.bearers {
		if b.now != nil {
			out = append(out, b)
		}
	}
	return out
}

// follows is the step that makes an object's owner, its controller if it has one.
func follows(b *referenceHolder) string {
	out := ""
	for _, w := range b.wants {
		made := w.kept && w.owner != nil && !w.owner.made() && w.owner != b.made
		if made && (out == "" || w.ref.Controls()) {
			out = id(w.owner.at)
		}
	}
	return out
}

func (w *want) reference() plan.Reference {
	return plan.Reference{Reference: *audit.ReferenceOf(w.ref), Verdict: w.found.Verdict, Found: w.evidence()}
}

func owners(of []plan.Reference) []string {
	out := []string{}
	seen := map[types.UID]bool{}
	for _, r := range of {
		if uid := types.UID(r.UID); !seen[uid] {
			seen[uid] = true
			out = append(out, r.UID)
		}
	}
	return out
}
