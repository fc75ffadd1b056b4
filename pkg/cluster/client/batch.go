package client

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Objects are read from a list instead of one by one if both limits are exceeded.
const (
	maxSingle    = 8  // up to so many objects of one type and namespace are requested one by one
	minListShare = 10 // at least one in so many objects of the list must be wanted
)

// Batch is a list request and the objects that are wanted from its result.
type Batch struct {
	Query  Query
	Wanted []object.Identity
}

// SplitBatches returns the lists that are worth requesting, and the objects to request one by
// one. by gives the lists to consider, widest first: KindOf for all namespaces, KindInNamespace
// for one. A list that the scan did not make, or that failed then, is not considered. A part of
// the objects does not tell how long a list is: lists of one namespace are then returned for
// many objects, and the answer tells whether they are worth reading.
func SplitBatches(view *snapshot.View, seen *snapshot.Snapshot, wanted []object.Identity, by ...func(object.Identity) object.Identity) (lists []Batch, one []object.Identity) {
	total := map[object.Identity]int{}
	for _, object := range seen.Objects {
		o := object.Identity
		total[KindOf(o)]++
		if o.Namespace != "" {
			total[KindInNamespace(o)]++
		}
	}
	left := wanted
	for _, of := range by {
		var next []object.Identity
		for _, group := range GroupBy(left, of) {
			at := of(group[0])
			mapping, ok := view.Map(at.APIVersion, at.Kind)
			t := mapping.Type
			known := ok && mapping.Served && t.Can("list") && view.Listed(t.GroupResource(), at.Namespace)
			worth := WorthListing(len(group), total[at])
			if seen.Part {
				worth = at.Namespace != "" || !t.Namespaced
			}
			if known && (len(group) > maxSingle && worth || !t.Can("get")) {
				lists = append(lists, Batch{Query: Query{Type: t, Namespace: at.Namespace}, Wanted: group})
			} else {
				next = append(next, group...)
			}
		}
		left = next
	}
	return lists, left
}

// WorthListing reports whether reading a list of so many objects takes less than requesting those
// that are wanted of it one by one.
func WorthListing(wanted, total int) bool { return wanted*minListShare >= total }

func KindOf(o object.Identity) object.Identity {
	return object.Identity{APIVersion: o.APIVersion, Kind: o.Kind}
}

func KindInNamespace(o object.Identity) object.Identity {
	return object.Identity{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace}
}

// GroupBy groups objects by key, in the order in which the keys first appear.
func GroupBy(objects []object.Identity, key func(object.Identity) object.Identity) [][]object.Identity {
	var groups [][]object.Identity
	at := map[object.Identity]int{}
	for _, o := range objects {
		i, ok := at[key(o)]
		if !ok {
			i = len(groups)
			at[key(o)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], o)
	}
	return groups
}
