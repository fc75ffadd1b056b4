package snapshot

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// WithoutVersions returns the snapshot that a scan would make if the API server no longer served
// these versions. Objects of their types have the version that is preferred then; those that no
// other version serves are missing. References to the versions stay as they are, as objects keep
// them.
func (s *Snapshot) WithoutVersions(removed ...schema.GroupVersion) *Snapshot {
	r := versionRemoval{removed: removed}
	out := *s
	out.Types = r.types(s.Types)
	r.after = NewMapper(out.Types)
	out.Listed = slices.DeleteFunc(slices.Clone(s.Listed), func(l Listing) bool { return r.vanishes(s.Types, l.Group, l.Resource) })
	out.Gaps = slices.DeleteFunc(slices.Clone(s.Gaps), func(g Gap) bool { return r.vanishes(s.Types, g.Group, g.Resource) })
	out.Objects = nil
	for _, o := range s.Objects {
		if o = r.object(o); o != nil {
			out.Objects = append(out.Objects, o)
		}
	}
	out.Lookups = nil
	for _, l := range s.Lookups {
		if r.removes(schema.FromAPIVersionAndKind(l.APIVersion, l.Kind).GroupVersion()) {
			continue // nothing maps such a reference, so the scan does not look it up
		}
		if l.Object != nil {
			l.Object = r.object(l.Object)
		}
		out.Lookups = append(out.Lookups, l)
	}
	out.Normalize()
	return &out
}

type versionRemoval struct {
	removed []schema.GroupVersion
	after   *Mapper
}

func (r *versionRemoval) removes(gv schema.GroupVersion) bool { return slices.Contains(r.removed, gv) }

// types returns the types that are left. Of a resource whose preferred version is removed, the
// highest version becomes preferred, as for a CustomResourceDefinition.
func (r *versionRemoval) types(all []Type) []Type {
	left := slices.DeleteFunc(slices.Clone(all), func(t Type) bool {
		return r.removes(schema.GroupVersion{Group: t.Group, Version: t.Version})
	})
	highest, preferred := map[schema.GroupResource]int{}, map[schema.GroupResource]bool{}
	for i, t := range left {
		of := t.GroupResource()
		if j, seen := highest[of]; !seen || version.CompareKubeAwareVersionStrings(t.Version, left[j].Version) > 0 {
			highest[of] = i
		}
		preferred[of] = preferred[of] || t.Preferred
	}
	for of, i := range highest {
		left[i].Preferred = left[i].Preferred || !preferred[of]
	}
	return left
}

// vanishes reports whether a resource was served, but only in removed versions.
func (r *versionRemoval) vanishes(before []Type, group, resource string) bool {
	served := false
	for _, t := range before {
		if t.Group == group && t.Resource == resource {
			if !r.removes(schema.GroupVersion{Group: t.Group, Version: t.Version}) {
				return false
			}
			served = true
		}
	}
	return served
}

// object returns the object as it would be listed, or nil if it would not be.
func (r *versionRemoval) object(o *object.Object) *object.Object {
	before := append([]object.Identity{o.Identity}, o.Aliases...)
	if !slices.ContainsFunc(before, func(i object.Identity) bool { return r.removes(i.GroupVersionKind().GroupVersion()) }) {
		return o
	}
	var left []object.Identity
	for _, i := range before {
		if gvk := i.GroupVersionKind(); r.removes(gvk.GroupVersion()) {
			versions := r.after.Versions(gvk.Group, gvk.Kind)
			if len(versions) == 0 {
				continue
			}
			i.APIVersion = versions[0].APIVersion()
		}
		left = append(left, i)
	}
	if len(left) == 0 {
		return nil
	}
	slices.SortFunc(left, object.Identity.Compare)
	left = slices.Compact(left)
	changed := *o
	changed.Identity, changed.Aliases = left[0], left[1:]
	if len(changed.Aliases) == 0 {
		changed.Aliases = nil
	}
	return &changed
}
