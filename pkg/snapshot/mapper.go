package snapshot

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Mapping is the resource from which the collector requests an apiVersion and kind.
type Mapping struct {
	Type     Type
	Spelling reason.Spelling // of the apiVersion and kind
	Served   bool            // false for the guessed resource of a list kind, where every GET returns 404
}

// Mapper maps kinds to types as the collector's RESTMapper does. It is
// immutable and safe for concurrent use.
type Mapper struct {
	exact  func() map[schema.GroupVersionKind]*Type
	lower  func() map[schema.GroupVersionKind]*Type // by the kind in lower case
	groups func() map[string][]*Type                // preferred first, then as Type.Compare orders them
}

// NewMapper returns a mapper for the types that discovery served, which must not change afterwards.
// Its indexes are made when they are asked for.
func NewMapper(types []Type) *Mapper {
	byKind := func(key func(*Type) string) func() map[schema.GroupVersionKind]*Type {
		return sync.OnceValue(func() map[schema.GroupVersionKind]*Type {
			out := make(map[schema.GroupVersionKind]*Type, len(types))
			for i := range types {
				out[types[i].groupVersion().WithKind(key(&types[i]))] = &types[i]
			}
			return out
		})
	}
	return &Mapper{
		exact:  byKind(func(t *Type) string { return t.Kind }),
		lower:  byKind(func(t *Type) string { return strings.ToLower(t.Kind) }),
		groups: sync.OnceValue(func() map[string][]*Type { return byGroup(types) }),
	}
}

func byGroup(types []Type) map[string][]*Type {
	groups := map[string][]*Type{}
	for i := range types {
		groups[types[i].Group] = append(groups[types[i].Group], &types[i])
	}
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b *Type) int {
			if a.Preferred != b.Preferred {
				if a.Preferred {
					return -1
				}
				return 1
			}
			return a.Compare(*b)
		})
	}
	return groups
}

func (t *Type) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: t.Group, Version: t.Version}
}

// inGroup returns the first type of a group, in its order, that fits, or nil.
func (m *Mapper) inGroup(group string, fits func(*Type) bool) *Type {
	if i := slices.IndexFunc(m.groups()[group], fits); i >= 0 {
		return m.groups()[group][i]
	}
	return nil
}

// Map returns the mapping of an apiVersion and kind and reports whether one exists. The
// version must match exactly, the kind exactly or in lower case, and guessed list kinds map
// too (docs/gc-semantics.md#kind-spelling).
func (m *Mapper) Map(apiVersion, kind string) (Mapping, bool) {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	if gvk.Version == "" || gvk.Version == "__internal" {
		return m.anyVersion(gvk)
	}
	return m.inVersion(gvk)
}

func (m *Mapper) inVersion(gvk schema.GroupVersionKind) (Mapping, bool) {
	if t, ok := m.exact()[gvk]; ok {
		return Mapping{Type: *t, Served: true}, true
	}
	if t, ok := m.lower()[gvk]; ok {
		return Mapping{Type: *t, Spelling: reason.LowerCaseKind, Served: true}, true
	}
	return m.listKind(gvk)
}

// anyVersion maps a kind without a version to the preferred version that has the kind in
// any spelling.
func (m *Mapper) anyVersion(gvk schema.GroupVersionKind) (Mapping, bool) {
	for _, t := range m.groups()[gvk.Group] {
		switch gvk.Kind {
		case t.Kind, strings.ToLower(t.Kind), t.Kind + "List", "List":
			gvk.Version = t.Version
			mapping, ok := m.inVersion(gvk)
			if mapping.Spelling != reason.KindOfList {
				mapping.Spelling = reason.NoVersionInGroup
			}
			return mapping, ok
		}
	}
	return Mapping{}, false
}

// Versions returns the types served for a kind in a group, the preferred one first.
func (m *Mapper) Versions(group, kind string) []Type {
	var out []Type
	for _, t := range m.groups()[group] {
		if t.Kind == kind {
			out = append(out, *t)
		}
	}
	return out
}

// WithServedVersion returns the reference with a version in which its kind is served, the
// preferred one if there are several. ok is false if its own version is served, or none.
func (m *Mapper) WithServedVersion(r object.Reference) (out object.Reference, ok bool) {
	if _, mapped := m.Map(r.APIVersion, r.Kind); mapped {
		return r, false
	}
	gvk := r.GroupVersionKind()
	versions := m.Versions(gvk.Group, gvk.Kind)
	if len(versions) == 0 {
		return r, false
	}
	r.APIVersion = versions[0].APIVersion()
	return r, true
}

// Serves reports whether any type is served in that group and version.
func (m *Mapper) Serves(apiVersion string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && m.serves(gv)
}

func (m *Mapper) serves(gv schema.GroupVersion) bool {
	return m.inGroup(gv.Group, func(t *Type) bool { return t.Version == gv.Version }) != nil
}

func (m *Mapper) listKind(gvk schema.GroupVersionKind) (Mapping, bool) {
	item, isList := strings.CutSuffix(gvk.Kind, "List")
	if !isList {
		return Mapping{}, false
	}
	itemType, ok := m.exact()[gvk.GroupVersion().WithKind(item)]
	if !ok && (item != "" || !m.serves(gvk.GroupVersion())) {
		return Mapping{}, false
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	if t := m.inGroup(gvk.Group, func(t *Type) bool { return t.Version == gvk.Version && t.Resource == plural.Resource }); t != nil {
		return Mapping{Type: *t, Spelling: reason.KindOfList, Served: true}, true
	}
	guessed := Type{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: plural.Resource, Namespaced: ok && itemType.Namespaced}
	return Mapping{Type: guessed, Spelling: reason.KindOfList}, true
}
