package client

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Both bounds have to be passed for a list to be read instead of single objects.
const (
	maxSingle    = 8  // objects of one type and namespace that are asked for one by one
	minListShare = 10 // a list is read where one in so many of its objects is wanted
)

// Batch is a list, and the objects that are wanted of it.
type Batch struct {
	Query  Query
	Wanted []object.Identity
}

// SplitBatches says which lists are worthwhile, and what is asked for one by one. With
// kindOf, that is a list of everything where much of a type is wanted; with kindIn,
// the list of a namespace where much of that is. A list that the look did not make
// is not made here either.
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
			much := len(group) > maxSingle && len(group)*minListShare >= total[at]
			if known && (much || !t.Can("get")) {
				lists = append(lists, Batch{Query: Query{Type: t, Namespace: at.Namespace}, Wanted: group})
			} else {
				next = append(next, group...)
			}
		}
		left = next
	}
	return lists, left
}

func KindOf(o object.Identity) object.Identity {
	return object.Identity{APIVersion: o.APIVersion, Kind: o.Kind}
}

func KindInNamespace(o object.Identity) object.Identity {
	return object.Identity{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace}
}

// GroupBy gathers what shares a key, in the order of the first of each.
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
