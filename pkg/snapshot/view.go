package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// View answers questions about one snapshot: what a kind maps to, whether a
// type was listed, what stood in the way. It is immutable after NewView and
// safe for concurrent use.
type View struct {
	*Mapper
	types   []Type
	listed  map[Listing]bool
	gaps    []Gap
	lookups map[Coordinates]*Lookup
}

// NewView indexes a snapshot, which must not change afterwards.
func NewView(s *Snapshot) *View {
	v := &View{
		Mapper:  NewMapper(s.Types),
		types:   s.Types,
		listed:  make(map[Listing]bool, len(s.Listed)),
		gaps:    s.Gaps,
		lookups: make(map[Coordinates]*Lookup, len(s.Lookups)),
	}
	for _, l := range s.Listed {
		v.listed[l] = true
	}
	for i := range s.Lookups {
		v.lookups[s.Lookups[i].Coordinates] = &s.Lookups[i]
	}
	return v
}

// Listed says whether every object of the type in that namespace was listed.
func (v *View) Listed(gr schema.GroupResource, namespace string) bool {
	return v.listed[Listing{Group: gr.Group, Resource: gr.Resource}] ||
		namespace != "" && v.listed[Listing{Group: gr.Group, Resource: gr.Resource, Namespace: namespace}]
}

// GapAt is what kept objects of the type in that namespace from being seen, or
// nil. A type that was listed there has no gap.
func (v *View) GapAt(gr schema.GroupResource, namespace string) *Gap {
	if v.Listed(gr, namespace) {
		return nil
	}
	for i, g := range v.gaps {
		if g.Name == "" && (g.Group == All || g.Group == gr.Group) && (g.Resource == All || g.Resource == gr.Resource) &&
			(g.Namespace == "" || g.Namespace == namespace) {
			return &v.gaps[i]
		}
	}
	return nil
}

// GroupGap is what kept the whole group from being discovered, or nil.
func (v *View) GroupGap(group string) *Gap {
	for i, g := range v.gaps {
		if g.Resource == All && (g.Group == All || g.Group == group) {
			return &v.gaps[i]
		}
	}
	return nil
}

// Lookup is the answer for those coordinates, or nil where none was asked for.
func (v *View) Lookup(c Coordinates) *Lookup { return v.lookups[c] }

// CoordinatesOf is where a reference of a dependent leads: its mapping, and
// the coordinates to ask for. ok is false where the kind maps to nothing.
func (v *View) CoordinatesOf(dependentNamespace string, r object.Reference) (m Mapping, c Coordinates, ok bool) {
	m, ok = v.Map(r.APIVersion, r.Kind)
	if !ok {
		return m, c, false
	}
	c = Coordinates{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name}
	if m.Type.Namespaced {
		c.Namespace = dependentNamespace
	}
	return m, c, true
}

// Unverified lists, once each, the coordinates of references that what was seen
// does not prove and one GET could: the kind maps, the scope fits, the name can
// be a path segment, the type has no gap, and no object with the reference's
// UID was seen there. Where the version is not served, that is asked of the one
// that is: what mends the reference depends on it. known answers the object of a UID
// or nil, to several at a time; objects are those whose references matter.
func (v *View) Unverified(objects []*object.Object, known func(types.UID) *object.Object) []Coordinates {
	return Unique(slices.Concat(Parallel(len(objects), func(from, to int) []Coordinates { return v.unproven(objects[from:to], known) })...))
}

func (v *View) unproven(objects []*object.Object, known func(types.UID) *object.Object) []Coordinates {
	var out []Coordinates
	asked := map[Coordinates]bool{}
	for _, o := range objects {
		for _, r := range o.Owners {
			owner := known(r.UID)
			if owner != nil && owner.MatchesIdentity(r, o.Namespace) {
				continue
			}
			r, other := v.WithServedVersion(r)
			if other && owner != nil && owner.MatchesIdentity(r, o.Namespace) {
				continue
			}
			m, c, ok := v.CoordinatesOf(o.Namespace, r)
			if !ok || !m.Served || asked[c] || v.lookups[c] != nil {
				continue
			}
			if o.Namespace == "" && m.Type.Namespaced || !ValidName(r.Name) || v.GapAt(m.Type.GroupResource(), c.Namespace) != nil {
				continue
			}
			asked[c] = true
			out = append(out, c)
		}
	}
	return out
}

// ValidName says whether a name can stand in a URL path: no object can have
// another, and asking for one would ask for something else
// (docs/gc-semantics.md#owner-name-in-a-url).
func ValidName(name string) bool {
	return name != "" && len(content.IsPathSegmentName(name)) == 0
}
