package restore

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// steps returns the steps: first the creations in their order, then the links of what is
// created, and then those of what exists.
func (p *planner) steps(order []*recreation, after [][]int) []plan.Step {
	steps := []plan.Step{}
	for position, c := range order {
		step := newStep(len(steps), plan.ActionCreate, c.holder)
		step.Object.ResourceVersion, step.Creation.Manifest, step.Creation.Defines = c.saved.ResourceVersion, c.saved.SHA256, c.types
		step.Creation.Grants = c.grants
		for _, before := range after[position] {
			step.After = append(step.After, stepID(before))
			step.Creation.WaitForCaches = step.Creation.WaitForCaches || c.kind.adopts && order[before].isLinkedTo(c)
		}
		steps = append(steps, step)
	}
	link := func(h *referenceHolder) {
		if step := linkStep(len(steps), h); len(step.Creation.Add) > 0 {
			steps = append(steps, step)
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
	return steps
}

func linkStep(n int, h *referenceHolder) plan.Step {
	step := newStep(n, plan.ActionLink, h)
	if h.live != nil {
		step.Object.ResourceVersion = h.live.ResourceVersion
	} else {
		step.After = append(step.After, stepID(h.recreation.position))
	}
	for _, r := range h.references {
		if !h.restores(r, plan.ActionLink) || !r.owner.pending() {
			continue
		}
		step.Creation.OwnerAdopts = step.Creation.OwnerAdopts || adopting(r.restored) && r.restored.Controls()
		if r.owner != h.recreation {
			step.After = append(step.After, stepID(r.owner.position))
		}
	}
	return step
}

// newStep returns a step with the references that it restores.
func newStep(n int, action plan.Action, h *referenceHolder) plan.Step {
	step := plan.Step{
		ID: stepID(n), Pass: 1, Action: action, Object: plan.ObjectState{Identity: h.object},
		After: []string{}, References: []plan.StepReference{}, Follows: follows(h), Reason: h.reason(), Creation: &plan.Creation{},
	}
	for _, r := range h.references {
		if !h.restores(r, action) {
			continue
		}
		add := plan.Addition{Reference: r.restored}
		for _, i := range r.replaces {
			add.Replaces = append(add.Replaces, h.live.Owners[i])
		}
		step.Creation.Add = append(step.Creation.Add, add)
		step.References = append(step.References, plan.StepReference{Reference: r.restored, Verdict: r.judgement.Verdict, Found: r.evidence()})
	}
	return step
}

// restores reports whether a step with that action restores the reference.
func (h *referenceHolder) restores(r *restoredReference, action plan.Action) bool {
	return r.accepted && (h.live != nil || r.linkedLater == (action == plan.ActionLink))
}

func stepID(n int) string { return strconv.Itoa(n + 1) }

// isLinkedTo reports whether the object is linked to an owner that is created after it.
func (c *recreation) isLinkedTo(owner *recreation) bool {
	return slices.ContainsFunc(c.holder.references, func(r *restoredReference) bool { return r.owner == owner && r.linkedLater })
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
