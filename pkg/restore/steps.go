package restore

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Instructions has what it takes to execute a step of a Restoration. References to objects that are
// yet to be created carry the UID of the deleted object.
type Instructions struct {
	// Add are the references that the object is created with, or that a link adds.
	Add []Addition
	// WaitForCaches says that the object is a controller and that the dependents which it
	// adopts were created shortly before: controllers must have them in their caches
	// first.
	WaitForCaches bool
	// OwnerAdopts says that the owner of a link is a controller that adopts the object
	// by itself after a while.
	OwnerAdopts bool
	// Defines are the types that must be served before the step is done.
	Defines []snapshot.Type

	saved Saved // of a create
}

// Addition is a reference that an object gets.
type Addition struct {
	object.Reference
	Replaces []object.Reference // those that it replaces; empty for a create
}

// Instructions returns how the i-th step is executed.
func (r *Restoration) Instructions(i int) *Instructions { return &r.works[i] }

// steps returns the steps: first the creations in their order, then the links.
func (p *planner) steps(order []*recreation, after [][]int) (steps []plan.Step, works []Instructions) {
	steps = []plan.Step{}
	add := func(step plan.Step, work Instructions, h *referenceHolder) {
		step.OwnerUIDs, step.Follows, step.Reason = ownerUIDs(step.References), follows(h), h.reason()
		steps, works = append(steps, step), append(works, work)
	}
	for position, c := range order {
		step := newStep(len(steps), plan.ActionCreate, c.holder)
		step.Object.ResourceVersion, step.Manifest = c.saved.ResourceVersion, c.saved.SHA256
		work := Instructions{saved: c.saved, Defines: c.types}
		for _, before := range after[position] {
			step.After = append(step.After, stepID(before))
			work.WaitForCaches = work.WaitForCaches || c.kind.adopts && order[before].isLinkedTo(c)
		}
		for _, r := range c.holder.references {
			if r.accepted && !r.linkedLater {
				work.Add = append(work.Add, Addition{Reference: r.restored})
				step.References = append(step.References, r.inPlan())
			}
		}
		add(step, work, c.holder)
	}
	for _, h := range p.linkOrder(order) {
		if step, work := linkStep(len(steps), h); len(work.Add) > 0 {
			add(step, work, h)
		}
	}
	return steps, works
}

func linkStep(n int, h *referenceHolder) (step plan.Step, work Instructions) {
	step = newStep(n, plan.ActionLink, h)
	if h.live != nil {
		step.Object.ResourceVersion = h.live.ResourceVersion
	} else {
		step.After = append(step.After, stepID(h.recreation.position))
	}
	for _, r := range h.references {
		if !r.accepted || h.live == nil && !r.linkedLater {
			continue
		}
		add := Addition{Reference: r.restored}
		for _, i := range r.replaces {
			add.Replaces = append(add.Replaces, h.live.Owners[i])
		}
		work.Add = append(work.Add, add)
		step.References = append(step.References, r.inPlan())
		if r.owner.pending() {
			work.OwnerAdopts = work.OwnerAdopts || adopting(r.restored) && r.restored.Controls()
			if r.owner != h.recreation {
				step.After = append(step.After, stepID(r.owner.position))
			}
		}
	}
	return step, work
}

func newStep(n int, action plan.Action, h *referenceHolder) plan.Step {
	return plan.Step{
		ID: stepID(n), Pass: 1, Action: action, Object: plan.Object{Identity: h.object},
		After: []string{}, References: []plan.Reference{}, OwnerUIDs: []string{},
	}
}

func stepID(n int) string { return strconv.Itoa(n + 1) }

// isLinkedTo reports whether the object is linked to an owner that is created after it.
func (c *recreation) isLinkedTo(owner *recreation) bool {
	return slices.ContainsFunc(c.holder.references, func(r *reference) bool { return r.owner == owner && r.linkedLater })
}

// linkOrder returns the holders that are created, in their order, and then those
// that exist.
func (p *planner) linkOrder(order []*recreation) []*referenceHolder {
	out := make([]*referenceHolder, 0, len(p.holders))
	for _, c := range order {
		out = append(out, c.holder)
	}
	for _, h := range p.holders {
		if h.live != nil {
			out = append(out, h)
		}
	}
	return out
}

// follows returns the id of the step that creates the object's controller, or else
// its first owner; empty if no step does.
func follows(h *referenceHolder) string {
	out := ""
	for _, r := range h.references {
		if r.accepted && r.owner.pending() && r.owner != h.recreation && (out == "" || r.restored.Controls()) {
			out = stepID(r.owner.position)
		}
	}
	return out
}

func (r *reference) inPlan() plan.Reference {
	return plan.Reference{Reference: *audit.ReferenceOf(r.restored), Verdict: r.judgement.Verdict, Found: r.evidence()}
}

func ownerUIDs(refs []plan.Reference) []string {
	out := []string{}
	for _, r := range refs {
		if !slices.Contains(out, r.UID) {
			out = append(out, r.UID)
		}
	}
	return out
}
