package snapshot

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Inventory is what the controller of an object deletes with it, though no owner reference says so: what Argo CD
// has deployed for an Application.
type Inventory struct {
	Controller string                     // a name: Argo CD
	Finalizer  string                     // the controller acts only as long as the object has it
	Policy     metav1.DeletionPropagation // with which it deletes the members
	Waits      bool                       // it removes its finalizer only once they are gone
	Members    []Member                   // those that were read, in the order of their identities
	Unread     int                        // how many others it lists that may exist
	Nothing    *reason.Reason             // why it deletes nothing in this cluster; nil: it deletes the members
	Unknown    ErrorClass                 // why the inventory could not be read; empty: it was
	Unapproved bool                       // it waits until a person approves the deletion
	Hooks      []string                   // what it runs besides: Kind/name, or the names of phases

	listed []Member // all, as the inventory lists them: without UIDs
	// keeps returns why the controller leaves an object with these labels and annotations, or nil. If keeps is nil, that does
	// not depend on them.
	keeps func(of object.Identity, labels, annotations map[string]string) *reason.Reason
}

// Member is an object that an Inventory lists.
type Member struct {
	object.Identity
	Kept   *reason.Reason // why the controller leaves it; nil: it deletes it
	Unread bool           // Kept may depend on labels and annotations that were not read

	perhaps bool // the inventory does not say whether it exists
}

// DependsOnMarks reports whether the controller leaves members that have certain labels or annotations.
func (i *Inventory) DependsOnMarks() bool { return i.keeps != nil && i.Nothing == nil }

// Mark sets what follows for a member from its labels and annotations.
func (i *Inventory) Mark(m *Member, labels, annotations map[string]string) {
	m.Kept, m.Unread = i.keeps(m.Identity, labels, annotations), false
}

// WithInventories returns a copy of the snapshot with more inventories, by the UIDs of their objects. It finds their
// members among the objects of the snapshot.
func (s *Snapshot) WithInventories(more map[types.UID]*Inventory) *Snapshot {
	out, view := *s, NewView(s)
	out.Inventories = map[types.UID]*Inventory{}
	for uid, known := range s.Inventories {
		out.Inventories[uid] = known
	}
	preferred := map[schema.GroupKind]Type{}
	for _, t := range s.Types {
		if kind := (schema.GroupKind{Group: t.Group, Kind: t.Kind}); preferred[kind].Kind == "" || t.Preferred {
			preferred[kind] = t
		}
	}
	type place struct {
		schema.GroupKind
		namespace, name string
	}
	placeOf := func(i object.Identity) place {
		kind := i.GroupVersionKind().GroupKind()
		if t, known := preferred[kind]; known && !t.Namespaced {
			i.Namespace = ""
		}
		return place{kind, i.Namespace, i.Name}
	}
	objects := make(map[place]*object.Object, len(s.Objects))
	for _, o := range s.Objects {
		for _, i := range append([]object.Identity{o.Identity}, o.Aliases...) {
			objects[placeOf(i)] = o
		}
	}
	for uid, inventory := range more {
		for _, m := range inventory.listed {
			at := placeOf(m.Identity)
			t, served := preferred[at.GroupKind]
			switch o := objects[at]; {
			case o != nil:
				m.Identity, m.Unread = o.Identity, inventory.DependsOnMarks()
				inventory.Members = append(inventory.Members, m)
			case m.perhaps:
			case served && !view.Listed(t.GroupResource(), at.namespace), !served && view.GroupGap(at.Group) != nil:
				inventory.Unread++
			}
		}
		slices.SortFunc(inventory.Members, func(a, b Member) int { return a.Compare(b.Identity) })
		inventory.Members = slices.CompactFunc(inventory.Members, func(a, b Member) bool { return a.UID == b.UID })
		out.Inventories[uid] = inventory
	}
	return &out
}
