package restore

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// The ranks in which objects are selected. The decision on an object depends on
// those of lower ranks: definitions add types, namespaces and volumes are referred
// to by name, and a Pod is left to its controller.
const (
	rankDefinition = iota
	rankNamespaceOrVolume
	rankOther
	rankPod
)

func rankOf(o object.Identity) int {
	switch kind := o.GroupVersionKind().GroupKind(); {
	case o.IsCRD():
		return rankDefinition
	case o.IsNamespace(), kind == persistentVolume:
		return rankNamespaceOrVolume
	case kind == schema.GroupKind{Kind: "Pod"}:
		return rankPod
	}
	return rankOther
}

// selectObjects divides the saved objects into those to create, those that an
// earlier restoration created, and those that are left alone.
func (p *planner) selectObjects() {
	byRank := slices.Clone(p.backup.Saved)
	slices.SortStableFunc(byRank, func(a, b event.Saved) int { return cmp.Compare(rankOf(a.Object), rankOf(b.Object)) })
	for _, saved := range byRank {
		if p.options.Only != nil && !p.options.Only(saved.Object) {
			continue
		}
		if why := p.selectObject(saved); why != nil {
			p.kept = append(p.kept, plan.Kept{Object: saved.Object, Reason: why})
		}
	}
	slices.SortFunc(p.toCreate, func(a, b *recreation) int { return a.saved.Object.Compare(b.saved.Object) })
}

// readRun reads what a restoration needs to know about the run. The cluster's own garbage collector
// performs the unrequested steps of a deletion: it may have done so even if the run
// skipped them.
func (p *planner) readRun() {
	p.released = map[types.UID]bool{}
	p.repaired, p.notDeleted, p.undone = map[types.UID]bool{}, map[types.UID]bool{}, map[string]bool{}
	unrequested := map[string]bool{}
	mode := p.backup.Mode
	for _, step := range p.backup.Steps {
		unrequested[step.ID] = mode.Cascades() && !step.Requested
		p.repaired[step.Object.UID] = mode == plan.Repair
		p.released[step.Object.UID] = step.Requested && step.Action == string(plan.ActionRemoveFinalizer)
	}
	for _, e := range p.backup.Results {
		skipped := e.Status == event.Skipped && !unrequested[e.Step]
		p.undone[e.Step] = skipped || e.Status == event.Failed
		if skipped {
			delete(p.released, e.Object.UID)
		}
		if e.Action == string(plan.ActionDelete) {
			p.notDeleted[e.Object.UID] = skipped
		}
	}
}

// selectObject adds an object to those that are or were created. If it does not, it
// returns the reason, or nil for an object that a repair changed: that still exists,
// and only its references are restored.
func (p *planner) selectObject(saved event.Saved) *reason.Reason {
	o := saved.Object
	switch live := p.live.byUID[o.UID]; {
	case live == nil:
	case live.Terminating():
		return reason.StillTerminating
	case p.repaired[o.UID]:
		return nil
	default:
		return reason.StillExists
	}
	t, why := p.typeOf(o)
	if why != nil {
		return why
	}
	if t.Namespaced != (o.Namespace != "") { // whatever the backup says: it could have been written by anybody
		return reason.OtherScope(t.Namespaced)
	}
	m, err := p.backup.parse(saved)
	if err != nil {
		return reason.ManifestUnreadable(err.Error())
	}
	c := &recreation{saved: saved, kind: kindOf(o), owners: m.owners()}
	if c.kind.prerequisites != nil {
		c.prerequisites = c.kind.prerequisites(m)
	}
	c.live = p.live.byAddress[t.Address(o.Namespace, o.Name)]
	switch {
	case c.live == nil:
		if why := p.whyNotCreate(c, m); why != nil {
			return why
		}
	case p.backup.Recreated[o.UID] != c.live.UID:
		return reason.NameTaken(c.live.Created.UTC())
	case c.live.Terminating():
		return reason.RestoredAndTerminating
	}
	p.add(c, m)
	return nil
}

// whyNotCreate returns why an object whose name is free is not created, or nil.
func (p *planner) whyNotCreate(c *recreation, m manifest) *reason.Reason {
	if p.notDeleted[c.saved.Object.UID] {
		return reason.NotDeletedByRun
	}
	if why := p.namespaceProblem(c.saved.Object); why != nil {
		return why
	}
	if m.text("metadata", "deletionTimestamp") != "" && !p.released[c.saved.Object.UID] {
		return reason.WasTerminating
	}
	if why := c.kind.whySkip(m); why != nil {
		return why
	}
	return p.leftToController(c)
}

// typeOf returns the type of an object that is or will be served, or why there is none.
func (p *planner) typeOf(o object.Identity) (t snapshot.Type, why *reason.Reason) {
	for _, t := range p.newTypes {
		if t.APIVersion() == o.APIVersion && t.Kind == o.Kind {
			return t, nil
		}
	}
	if mapped, ok := p.live.view.Map(o.APIVersion, o.Kind); ok && mapped.Served && mapped.Spelling == reason.ExactSpelling {
		return mapped.Type, nil
	}
	kind := o.GroupVersionKind()
	if gap := p.live.view.GroupGap(kind.Group); gap != nil {
		return t, reason.TypeUnverified(gap.Parameter())
	}
	var served []string
	for _, t := range p.live.view.Versions(kind.Group, kind.Kind) {
		served = append(served, t.APIVersion())
	}
	return t, reason.Of(reason.TypeNotServed{APIVersion: o.APIVersion, Kind: o.Kind, ServedVersions: served})
}

// namespaceProblem returns why nothing can be created in the namespace of an
// object, or nil.
func (p *planner) namespaceProblem(o object.Identity) *reason.Reason {
	if o.Namespace == "" || p.namespaces[o.Namespace] {
		return nil
	}
	switch live, absent := p.live.find("Namespace", o.Namespace); {
	case absent:
		return reason.NamespaceMissing
	case live != nil && live.Terminating():
		return reason.NamespaceTerminating
	}
	return nil
}

// leftToController returns, for a Pod, that its controller exists and creates Pods
// itself.
func (p *planner) leftToController(c *recreation) *reason.Reason {
	if rankOf(c.saved.Object) != rankPod {
		return nil
	}
	for _, r := range c.owners {
		if !r.Controls() || !adopting(r) {
			continue
		}
		mapped, at, ok := p.live.view.CoordinatesOf(c.saved.Object.Namespace, r)
		if !ok {
			continue
		}
		live := p.live.byAddress[mapped.Type.Address(at.Namespace, at.Name)]
		// An owner of the backup may live in another namespace than the reference says.
		owner := p.byUID[r.UID]
		if live != nil && !live.Terminating() && (owner == nil || owner.live == live) {
			return reason.ControllerCreatesPods(r.String())
		}
	}
	return nil
}

// add adds an object to those that are to be or were created.
func (p *planner) add(c *recreation, m manifest) {
	o := c.saved.Object
	p.byUID[o.UID] = c
	if o.GroupVersionKind().GroupKind() == persistentVolume {
		p.volumes.recreated[o.Name] = true
	}
	if !c.pending() {
		p.alreadyCreated = append(p.alreadyCreated, c)
		return
	}
	if o.IsCRD() {
		c.types = definedTypes(m)
		p.newTypes = append(p.newTypes, c.types...)
	}
	c.lost, c.grants = clean(m, c.kind, p.volumes), grants(o, m)
	p.toCreate = append(p.toCreate, c)
	if o.IsNamespace() {
		p.namespaces[o.Name] = true
	}
}
