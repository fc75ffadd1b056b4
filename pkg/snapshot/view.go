package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// View indexes the types, lists, gaps and lookups of one snapshot. It is immutable and safe
// for concurrent use.
type View struct {
	*Mapper
	types   []Type
	listed  func() map[Listing]bool
	gaps    []Gap
	lookups map[Coordinates]*Lookup
}

// NewView indexes a snapshot, which must not change afterwards.
func NewView(s *Snapshot) *View { return NewMapper(s.Types).View(s) }

// View is like NewView for a snapshot with the types of the Mapper.
func (m *Mapper) View(s *Snapshot) *View {
	v := &View{
		Mapper: m,
		types:  s.Types,
		listed: sync.OnceValue(func() map[Listing]bool {
			out := make(map[Listing]bool, len(s.Listed))
			for _, l := range s.Listed {
				out[l] = true
			}
			return out
		}),
		gaps:    s.Gaps,
		lookups: make(map[Coordinates]*Lookup, len(s.Lookups)),
	}
	for i := range s.Lookups {
		v.lookups[s.Lookups[i].Coordinates] = &s.Lookups[i]
	}
	return v
}

// Listed reports whether every object of the type in that namespace was listed.
func (v *View) Listed(gr schema.GroupResource, namespace string) bool {
	listed := v.listed()
	return listed[Listing{Group: gr.Group, Resource: gr.Resource}] ||
		namespace != "" && listed[Listing{Group: gr.Group, Resource: gr.Resource, Namespace: namespace}]
}

// GapAt returns the gap that may hide objects of the type in that namespace, or nil. A type
// that was listed there has no gap.
func (v *View) GapAt(gr schema.GroupResource, namespace string) *Gap {
	if len(v.gaps) == 0 || v.Listed(gr, namespace) {
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

// GroupGap returns the gap that makes the whole group unknown, or nil.
func (v *View) GroupGap(group string) *Gap {
	for i, g := range v.gaps {
		if g.Resource == All && (g.Group == All && g.Namespace == "" || g.Group == group) {
			return &v.gaps[i]
		}
	}
	return nil
}

// Lookup returns the lookup of those coordinates, or nil if there was none.
func (v *View) Lookup(c Coordinates) *Lookup { return v.lookups[c] }

// Unreadable returns the failed lookup of an object of type t that the API server cannot read from etcd, or nil. If
// the object was not looked up, as in a file, the list that names it stands in for that.
func (v *View) Unreadable(t Type, at Coordinates) *Lookup {
	l, g := v.Lookup(at), v.GapAt(t.GroupResource(), at.Namespace)
	switch {
	case l != nil && l.Reason == StoreRead:
		return l
	case l == nil && g != nil && slices.Contains(g.Objects, strings.TrimPrefix(at.Namespace+"/"+at.Name, "/")):
		return &Lookup{Coordinates: at, Outcome: Failed, Reason: g.Reason, Message: g.Message}
	}
	return nil
}

// CoordinatesOf returns the mapping of a dependent's reference and the coordinates of a
// GET for its owner. ok is false if the kind has no mapping.
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

const (
	// MaxLookedUp is how many references of an object LooksUp accepts at most.
	MaxLookedUp  = 100
	maxOwnerName = 253 // bytes of a name or UID: the longest name that nearly all types accept
)

// LooksUp reports whether a scan looks up the owner of an object's i-th reference if no list shows it.
// Objects have few owners, but an object of 1.5 MB, the limit of etcd, has room for 10,000, or for
// very long names and UIDs, which would cost requests and memory in every scan. The owner of an
// excluded reference is unknown unless a list shows it.
func LooksUp(i int, r object.Reference) bool {
	return i < MaxLookedUp && len(r.Name) <= maxOwnerName && len(r.UID) <= maxOwnerName
}

// NotLookedUp says in a message for which references LooksUp is false.
var NotLookedUp = fmt.Sprintf("only the first %d owner references of an object are looked up, and names and UIDs of at most %d bytes", MaxLookedUp, maxOwnerName)

// UnverifiedOwners returns the coordinates of the owners of objects that the lists do not prove
// and one GET could, without duplicates: the kind maps, the scope fits, the name is a valid
// path segment, the type has no gap, and no object with the reference's UID was listed
// there. If the reference's version is not served, a served one takes its place, as the
// repair of the reference depends on it. known returns the object with a UID or nil; it is
// called concurrently.
func (v *View) UnverifiedOwners(objects []*object.Object, known func(types.UID) *object.Object) []Coordinates {
	return UniqueCoordinates(slices.Concat(Parallel(len(objects), func(from, to int) []Coordinates { return v.unverified(objects[from:to], known) })...))
}

func (v *View) unverified(objects []*object.Object, known func(types.UID) *object.Object) []Coordinates {
	var out []Coordinates
	included := map[Coordinates]bool{}
	for _, o := range objects {
		for i, r := range o.Owners {
			if !LooksUp(i, r) {
				continue
			}
			owner := known(r.UID)
			if owner != nil && owner.MatchesIdentity(r, o.Namespace) {
				continue
			}
			r, rewritten := v.WithServedVersion(r)
			if rewritten && owner != nil && owner.MatchesIdentity(r, o.Namespace) {
				continue
			}
			m, c, ok := v.CoordinatesOf(o.Namespace, r)
			if !ok || !m.Served || included[c] || v.lookups[c] != nil {
				continue
			}
			if o.Namespace == "" && m.Type.Namespaced || !ValidName(r.Name) || v.GapAt(m.Type.GroupResource(), c.Namespace) != nil {
				continue
			}
			included[c] = true
			out = append(out, c)
		}
	}
	return out
}

// ValidName reports whether a name is a valid URL path segment. No object has another name,
// and a GET for one would request something else (docs/gc-semantics.md#owner-name-in-a-url).
func ValidName(name string) bool {
	return name != "" && len(content.IsPathSegmentName(name)) == 0
}
