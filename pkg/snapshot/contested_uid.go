package snapshot

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// markContested marks the objects of lists and lookups whose UID a lookup found on an object with
// another namespace, name or creation time, and adds the gaps of all contested objects.
func (s *Snapshot) markContested() {
	var all Deduper
	for _, l := range s.Lookups {
		if l.Object != nil {
			all.Add(l.Object)
		}
	}
	for _, o := range s.Objects {
		if _, found := all.byUID[o.UID]; found {
			all.Add(o)
		}
	}
	var contested []*object.Object
	mark := func(o *object.Object) *object.Object {
		if merged := all.Object(o.UID); merged != nil && merged.Contested {
			marked := *o // other snapshots may share o
			marked.Contested = true
			marked.Aliases = aliases(o.Identity, append([]object.Identity{merged.Identity}, merged.Aliases...))
			o = &marked
		}
		if o.Contested {
			contested = append(contested, o)
		}
		return o
	}
	for i, o := range s.Objects {
		s.Objects[i] = mark(o)
	}
	for i, l := range s.Lookups {
		if l.Object != nil {
			s.Lookups[i].Object = mark(l.Object)
		}
	}
	if len(contested) > 0 {
		s.Gaps = append(slices.Clone(s.Gaps), s.contestedGaps(contested)...)
	}
}

// contestedGaps returns one gap for each type and namespace that has contested objects
// and no such gap yet. Its message names the first of them.
func (s *Snapshot) contestedGaps(contested []*object.Object) []Gap {
	mapper, present := NewMapper(s.Types), map[Listing]bool{}
	for _, g := range s.Gaps {
		if g.Reason == ContestedUID {
			present[Listing{g.Group, g.Resource, g.Namespace}] = true
		}
	}
	slices.SortFunc(contested, func(a, b *object.Object) int { return a.Compare(b.Identity) })
	var out []Gap
	for _, o := range contested {
		for _, i := range append([]object.Identity{o.Identity}, o.Aliases...) {
			gap := Gap{Group: i.GroupVersionKind().Group, Resource: All, Namespace: i.Namespace, Reason: ContestedUID}
			if m, ok := mapper.Map(i.APIVersion, i.Kind); ok {
				gap.Resource = m.Type.Resource
			}
			if at := (Listing{gap.Group, gap.Resource, gap.Namespace}); !present[at] {
				present[at] = true
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
