package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// choose divides what was saved into what is made, what was made before, and what
// is left alone. What others are judged by comes first: definitions say which
// types there will be, volumes what a claim may name, controllers which Pods are
// theirs to make.
func (m *maker) choose() {
	untried, mended := m.untried(), m.mended()
	ranks := make([][]Saved, lastRank+1)
	for _, saved := range m.backup.Saved {
		if m.options.Only == nil || m.options.Only(saved.Object) {
			r := rank(saved.Object)
			ranks[r] = append(ranks[r], saved)
		}
	}
	for _, saved := range slices.Concat(ranks...) {
		if why := m.consider(saved, untried, mended); why != nil {
			m.kept = append(m.kept, plan.Kept{Object: saved.Object, Reason: why})
		}
	}
	slices.SortFunc(m.making, func(a, b *subject) int { return a.saved.Object.Compare(b.saved.Object) })
}

// lastRank is that of Pods.
const lastRank = 3

func rank(o object.Identity) int {
	switch kind := o.GroupVersionKind().GroupKind(); {
	case o.IsDefinition():
		return 0
	case o.IsNamespace(), kind == schema.GroupKind{Kind: "PersistentVolume"}:
		return 1
	case kind == schema.GroupKind{Kind: "Pod"}:
		return lastRank
	}
	return 2
}

// untried are the objects that the run was to delete, and did not even try to.
func (m *maker) untried() map[types.UID]bool {
	theirs := m.theirs()
	out := map[types.UID]bool{}
	for _, e := range m.backup.Ended {
		if e.Action == string(collector.ActionDelete) {
			out[e.Object] = e.Status == event.Skipped && !theirs[e.Step]
		}
	}
	return out
}

// theirs are the steps of a deletion that nobody asked for: they are the cluster's
// own collector's to do, and that the run did not see them done says nothing.
func (m *maker) theirs() map[string]bool {
	out := map[string]bool{}
	if p := m.backup.Plan; p != nil && p.Mode == plan.Delete {
		for i := range p.Steps {
			out[p.Steps[i].ID] = !p.Steps[i].Requested
		}
	}
	return out
}

// mended are the objects that a repair has changed.
func (m *maker) mended() map[types.UID]bool {
	out := map[types.UID]bool{}
	if m.backup.Plan != nil && m.backup.Plan.Mode == plan.Repair {
		for i := range m.backup.Plan.Steps {
			out[m.backup.Plan.Steps[i].Object.UID] = true
		}
	}
	return out
}
