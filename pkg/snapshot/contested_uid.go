package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// markContested marks the objects whose UID a lookup found on another object, and adds the
// gaps of all contested objects.
func (s *Snapshot) markContested() {
	s.compareLookups()
	var contested []*object.Object
	for _, o := range s.Objects {
		if o.Contested {
			contested = append(contested, o)
		}
	}
	for i := range s.Lookups {
		if o := s.Lookups[i].Object; o != nil && o.Contested {
			contested = append(contested, o)
		}
	}
	if len(contested) > 0 {
		s.Gaps = append(slices.Clone(s.Gaps), s.contestedGaps(contested)...)
	}
}

// compareLookups marks the objects of lists and lookups whose UID a lookup found on an
// object with another namespace, name or creation time.
func (s *Snapshot) compareLookups() {
	found := map[types.UID]bool{}
	var all Deduper
	for i := range s.Lookups {
		if o := s.Lookups[i].Object; o != nil {
			found[o.UID] = true
			all.Add(o)
		}
	}
	if len(found) == 0 {
		return
	}
	for _, o := range s.Objects {
		if found[o.UID] {
			all.Add(o)
		}
	}
	mark := func(o *object.Object) *object.Object {
		if o == nil || !found[o.UID] {
			return o
		}
		merged := all.Object(o.UID)
		if !merged.Contested {
			return o
		}
		marked := *o // other snapshots may share o
		marked.Contested = true
		marked.Aliases = aliases(o.Identity, append([]object.Identity{merged.Identity}, merged.Aliases...))
		return &marked
	}
	for i, o := range s.Objects {
		s.Objects[i] = mark(o)
	}
	for i := range s.Lookups {
		s.Lookups[i].Object = mark(s.Lookups[i].Object)
	}
}

// contestedGaps returns one gap for each type and namespace that has contested objects
// and no such gap yet. Its message names the first of them.
func (s *Snapshot) contestedGaps(contested []*object.Object) []Gap {
	mapper, present := NewMapper(s.Types), map[Gap]bool{}
	for _, g := range s.Gaps {
		present[Gap{Group: g.Group, Resource: g.Resource, Namespace: g.Namespace, Reason: g.Reason}] = true
	}
	slices.SortFunc(contested, func(a, b *object.Object) int { return a.Compare(b.Identity) })
	var out []Gap
	for _, o := range contested {
		for _, i := range append([]object.Identity{o.Identity}, o.Aliases...) {
			gap := Gap{Group: i.GroupVersionKind().Group, Resource: All, Namespace: i.Namespace, Reason: ContestedUID}
			if m, ok := mapper.Map(i.APIVersion, i.Kind); ok {
				gap.Resource = m.Type.Resource
			}
			if !present[gap] {
				present[gap] = true
				gap.Message = UIDContested(o).Contest()
				out = append(out, gap)
			}
		}
	}
	return out
}

// UIDContested returns the reason to leave an object with a contested UID alone, with the
// objects that have the UID.
func UIDContested(o *object.Object) reason.UIDContested {
	all := append([]object.Identity{o.Identity}, o.Aliases...)
	slices.SortFunc(all, object.Identity.Compare)
	return reason.UIDContested{Objects: all}
}
