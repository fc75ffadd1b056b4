package cluster

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	// manifestBatch is how many objects that are asked for one by one are held.
	manifestBatch = 64
	// manifestPage is how many whole objects are asked for at a time; twice as many
	// are held.
	manifestPage = 500
	// worthwhile: a list is read where one in so many of its objects is wanted.
	worthwhile = 10
)

// Manifests reads whole objects and passes them on, one after the other, with
// their metadata as it is now: never concurrently, and in the same order for the
// same answers. The JSON is the server's to the byte, save that apiVersion and
// kind are put into items of lists that lack them; it is the receiver's to keep.
//
// What is gone or was replaced since is left out. failed says by UID what could
// not be read, each time a *Failure. The error is the context's or each's, which
// ends the reading.
func (c *Cluster) Manifests(ctx context.Context, seen *snapshot.Snapshot, wanted []object.Identity, each func(object.Object, json.RawMessage) error) (failed map[types.UID]error, err error) {
	m := &manifests{
		Cluster: c, pass: each, failed: map[types.UID]error{}, wanted: make(map[types.UID]object.Identity, len(wanted)),
		look: &look{Cluster: c, probes: map[probeKey]func() error{}}, view: snapshot.NewView(seen),
	}
	for _, o := range wanted {
		m.wanted[o.UID] = o
	}
	lists, single := m.divide(seen, wanted)
	for _, l := range lists {
		rest, err := m.list(ctx, l)
		if err != nil {
			return m.failed, err
		}
		single = append(single, rest...)
	}
	return m.failed, m.single(ctx, single)
}

// manifests is one reading under way.
type manifests struct {
	*Cluster
	look   *look
	view   *snapshot.View
	pass   func(object.Object, json.RawMessage) error
	wanted map[types.UID]object.Identity // what was not passed on yet
	failed map[types.UID]error
}

// share is a list, and the objects that are wanted of it.
type share struct {
	job
	wanted []object.Identity
}

// divide says which lists are worthwhile, and what is asked for one by one: a
// list of everything where much of the type is wanted, else lists of single
// namespaces. A list that the look did not make is not made here either.
func (m *manifests) divide(seen *snapshot.Snapshot, wanted []object.Identity) (lists []share, one []object.Identity) {
	total := map[object.Identity]int{}
	for _, object := range seen.Objects {
		o := object.Identity
		total[kindOf(o)]++
		if o.Namespace != "" {
			total[kindIn(o)]++
		}
	}
	left := wanted
	for _, of := range []func(object.Identity) object.Identity{kindOf, kindIn} {
		var next []object.Identity
		for _, group := range grouped(left, of) {
			at := of(group[0])
			mapping, ok := m.view.Map(at.APIVersion, at.Kind)
			t := mapping.Type
			known := ok && mapping.Served && t.Can("list") && m.view.Saw(t.GroupResource(), at.Namespace)
			much := len(group) > single && len(group)*worthwhile >= total[at]
			if known && (much || !t.Can("get")) {
				lists = append(lists, share{job{of: t, namespace: at.Namespace}, group})
			} else {
				next = append(next, group...)
			}
		}
		left = next
	}
	return lists, left
}

func kindOf(o object.Identity) object.Identity {
	return object.Identity{APIVersion: o.APIVersion, Kind: o.Kind}
}

func kindIn(o object.Identity) object.Identity {
	return object.Identity{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace}
}

// grouped gathers what shares a key, in the order of the first of each.
func grouped(objects []object.Identity, key func(object.Identity) object.Identity) [][]object.Identity {
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
