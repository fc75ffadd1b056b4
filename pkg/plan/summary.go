package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// Summary counts steps by action, and blocked and kept objects.
type Summary struct {
	Delete          int `json:"delete"`
	Unlink          int `json:"unlink"`
	Unblock         int `json:"unblock"`
	RemoveFinalizer int `json:"removeFinalizer"`
	Relink          int `json:"relink,omitempty"`
	UpdateVersion   int `json:"updateVersion,omitempty"`
	Blocked         int `json:"blocked"`
	Create          int `json:"create,omitempty"`
	Link            int `json:"link,omitempty"`
	Kept            int `json:"kept,omitempty"`
}

// Summary returns the summary of the plan.
func (p *Plan) Summary() Summary {
	s := Summary{Blocked: len(p.Blocked), Kept: len(p.Kept)}
	counters := map[Action]*int{
		ActionDelete: &s.Delete, ActionUnlink: &s.Unlink, ActionUnblock: &s.Unblock, ActionRemoveFinalizer: &s.RemoveFinalizer,
		ActionRelink: &s.Relink, ActionUpdateVersion: &s.UpdateVersion, ActionCreate: &s.Create, ActionLink: &s.Link,
	}
	for i := range p.Steps {
		if n := counters[p.Steps[i].Action]; n != nil {
			*n++
		}
	}
	return s
}

// ObjectsToBackUp returns the objects that a run backs up before its first write, without duplicates.
func (p *Plan) ObjectsToBackUp() []object.Identity {
	var out []object.Identity
	for i := range p.Steps {
		if s := &p.Steps[i]; s.BacksUp() {
			out = append(out, s.Object.Identity)
		}
	}
	for _, lost := range p.LostObjects {
		out = append(out, lost.Object)
	}
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.MayBeDeleted {
			out = append(out, o.Object)
		}
	}
	out = append(out, p.KeptByAdmission...)
	known := map[object.Identity]bool{}
	return slices.DeleteFunc(out, func(o object.Identity) bool {
		before := known[o]
		known[o] = true
		return before
	})
}

// BacksUp reports whether the object of a step is backed up: if the step deletes or repairs it, or
// removes its finalizer at a person's request. A change that the garbage collector would also make is
// not backed up.
func (s *Step) BacksUp() bool {
	return s.Action == ActionDelete || s.Requested || s.IsRepair()
}

// VolumeNamespaces returns the sorted namespaces of PersistentVolumeClaims and others that may be in use, and the
// empty one for PersistentVolumes: of those that the plan deletes, or takes a finalizer from, and of claims whose
// deletion was under way beside Pods that it deletes. Metadata does not show what uses them, nor what becomes of
// data: if that is read (see object.Object's Claims and Storage), a new plan can tell more. A namespace is left out
// where that was read: a scan does it for what is being deleted.
func (p *Plan) VolumeNamespaces(g *graph.Graph) []string {
	var out []string
	unread := func(o object.Identity) bool {
		seen := g.Object(g.Find(o.UID)) // nil if it is restored
		return o.Namespace == "" || seen == nil || seen.Claims == nil
	}
	pods := map[string]bool{} // the namespaces where Pods are deleted
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if o.Object.MayBeInUse() && unread(o.Object) {
			out = append(out, o.Object.Namespace)
		}
		pods[o.Object.Namespace] = pods[o.Object.Namespace] || o.Object.Kind == "Pod" && o.State.Deletes()
	}
	for n := range g.Listed() {
		if o := g.Object(graph.Node(n)); o.Terminating() && unread(o.Identity) && pods[o.Namespace] && slices.Contains(o.Finalizers, simulate.ClaimProtection) {
			out = append(out, o.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// HonorsGracePeriod reports whether the requested grace period makes a difference to a Pod:
// one that is requested itself, and that its kubelet has to stop.
func (p *Plan) HonorsGracePeriod() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		return s.Requested && s.Deletion != nil && s.Deletion.GraceSeconds != nil && stoppedByKubelet(s.Deletion.StateBefore)
	})
}

// Refused returns the blocked objects that the plan neither deletes nor repairs. They may
// still lose references to deleted owners.
func (p *Plan) Refused() []Blocked {
	done := map[string]bool{}
	for _, o := range p.Outcomes {
		done[string(o.Object.UID)] = !p.Mode.Cascades() || o.State.Deletes()
	}
	return slices.DeleteFunc(slices.Clone(p.Blocked), func(b Blocked) bool { return done[string(b.Object.UID)] })
}
