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

// steps returns the steps: first the creations in their order, then the links of what is
// created, and then those of what exists.
func (p *planner) steps(order []*recreation, after [][]int) (steps []plan.Step, works []Instructions) {
	steps = []plan.Step{}
	for position, c := range order {
		step, work := newStep(len(steps), plan.ActionCreate, c.holder)
		step.Object.ResourceVersion, step.Manifest = c.saved.ResourceVersion, c.saved.SHA256
		work.saved, work.Defines = c.saved, c.types
		for _, before := range after[position] {
			step.After = append(step.After, stepID(before))
			work.WaitForCaches = work.WaitForCaches || c.kind.adopts && order[before].isLinkedTo(c)
		}
		steps, works = append(steps, step), append(works, work)
	}
	link := func(h *referenceHolder) {
		if step, work := linkStep(len(steps), h); len(work.Add) > 0 {
			steps, works = append(steps, step), append(works, work)
		}
	}
	for _, c := range order {
		link(c.holder)
	}
	for _, h := range p.holders {
		if h.live != nil {
			link(h)
		}
	}
	return steps, works
}

func linkStep(n int, h *referenceHolder) (step plan.Step, work Instructions) {
	step, work = newStep(n, plan.ActionLink, h)
	if h.live != nil {
		step.Object.ResourceVersion = h.live.ResourceVersion
	} else {
		step.After = append(step.After, stepID(h.recreation.position))
	}
	for _, r := range h.references {
		if !h.restores(r, plan.ActionLink) || !r.owner.pending() {
			continue
		}
		work.OwnerAdopts = work.OwnerAdopts || adopting(r.restored) && r.restored.Controls()
		if r.owner != h.recreation {
			step.After = append(step.After, stepID(r.owner.position))
		}
	}
	return step, work
}

// newStep returns a step with the references that it restores.
func newStep(n int, action plan.Action, h *referenceHolder) (step plan.Step, work Instructions) {
	step = plan.Step{
		ID: stepID(n), Pass: 1, Action: action, Object: plan.Object{Identity: h.object},
		After: []string{}, References: []plan.Reference{}, OwnerUIDs: []string{}, Follows: follows(h), Reason: h.reason(),
	}
	for _, r := range h.references {
		if !h.restores(r, action) {
			continue
		}
		add := Addition{Reference: r.restored}
		for _, i := range r.replaces {
			add.Replaces = append(add.Replaces, h.live.Owners[i])
		}
		work.Add = append(work.Add, add)
		inPlan := plan.Reference{Reference: *audit.ReferenceOf(r.restored), Verdict: r.judgement.Verdict, Found: r.evidence()}
		step.References = append(step.References, inPlan)
		if !slices.Contains(step.OwnerUIDs, inPlan.UID) {
			step.OwnerUIDs = append(step.OwnerUIDs, inPlan.UID)
		}
	}
	return step, work
}

// restores reports whether a step with that action restores the reference.
func (h *referenceHolder) restores(r *reference, action plan.Action) bool {
	return r.accepted && (h.live != nil || r.linkedLater == (action == plan.ActionLink))
}

func stepID(n int) string { return strconv.Itoa(n + 1) }

// isLinkedTo reports whether the object is linked to an owner that is created after it.
func (c *recreation) isLinkedTo(owner *recreation) bool {
	return slices.ContainsFunc(c.holder.references, func(r *reference) bool { return r.owner == owner && r.linkedLater })
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
