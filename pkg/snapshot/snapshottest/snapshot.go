package snapshottest

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Taken is the scan time of every snapshot of this package.
var Taken = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// Part changes a snapshot under construction.
type Part func(*snapshot.Snapshot)

// New returns a complete and sorted snapshot of a cluster that serves Types, with every
// monitored type listed everywhere, after the changes of the parts in their order.
func New(parts ...Part) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Taken: Taken, Server: "v1.36.3", Types: Types()}
	for _, t := range s.Types {
		if t.Monitored() {
			s.Listed = append(s.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
		}
	}
	for _, part := range parts {
		part(s)
	}
	s.Normalize()
	return s
}

// FromServer sets the git version of the server.
func FromServer(version string) Part { return func(s *snapshot.Snapshot) { s.Server = version } }

// Listing adds objects to the lists.
func Listing(objects ...object.Object) Part {
	return func(s *snapshot.Snapshot) { s.Objects = append(s.Objects, Pointers(objects)...) }
}

// Pointers returns pointers to copies of the objects.
func Pointers(objects []object.Object) []*object.Object {
	out := make([]*object.Object, len(objects))
	for i, o := range objects {
		out[i] = &o
	}
	return out
}

// Serving adds types, and lists the monitored ones everywhere.
func Serving(types ...snapshot.Type) Part {
	return func(s *snapshot.Snapshot) {
		s.Types = append(s.Types, types...)
		for _, t := range types {
			if t.Monitored() {
				s.Listed = append(s.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
			}
		}
	}
}

// Unlisted marks "resource" or "resource.group" as not listed, without a gap.
func Unlisted(resource string) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		s.Listed = slices.DeleteFunc(s.Listed, func(l snapshot.Listing) bool {
			return l.Group == group && l.Resource == name
		})
	}
}

// ListedIn marks "resource" or "resource.group" as listed in one namespace only.
func ListedIn(resource, namespace string) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		Unlisted(resource)(s)
		s.Listed = append(s.Listed, snapshot.Listing{Group: group, Resource: name, Namespace: namespace})
	}
}

// Unreadable adds a gap for "resource" or "resource.group", which is not listed.
func Unreadable(resource string, reason snapshot.ErrorClass) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		Unlisted(resource)(s)
		s.Gaps = append(s.Gaps, snapshot.Gap{Group: group, Resource: name, Reason: reason})
	}
}

// Unsearched adds the gap of a "resource" or "resource.group" that could not be searched for
// lost owners in other namespaces.
func Unsearched(resource string) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{Group: group, Resource: name, Namespace: snapshot.All, Reason: snapshot.Forbidden})
	}
}

// Undiscovered adds a gap for a group that could not be discovered, and removes its types.
func Undiscovered(group string, reason snapshot.ErrorClass) Part {
	return func(s *snapshot.Snapshot) {
		s.Types = slices.DeleteFunc(s.Types, func(t snapshot.Type) bool { return t.Group == group })
		s.Listed = slices.DeleteFunc(s.Listed, func(l snapshot.Listing) bool { return l.Group == group })
		s.Gaps = append(s.Gaps, snapshot.Gap{Group: group, Resource: snapshot.All, Reason: reason})
	}
}

// Found adds a lookup at the object's own coordinates that found the object.
func Found(o object.Object) Part { return FoundAs(o.APIVersion, o.Kind, o) }

// FoundAs adds a lookup that found the object by another version or spelling of its kind.
func FoundAs(apiVersion, kind string, o object.Object) Part {
	return func(s *snapshot.Snapshot) {
		s.Lookups = append(s.Lookups, snapshot.Lookup{
			Coordinates: snapshot.Coordinates{APIVersion: apiVersion, Kind: kind, Namespace: o.Namespace, Name: o.Name},
			Outcome:     snapshot.Found, Object: &o,
		})
	}
}

// Absent adds a lookup at "namespace/name" or "name" that found nothing.
func Absent(apiVersion, kind, path string) Part {
	return func(s *snapshot.Snapshot) {
		s.Lookups = append(s.Lookups, snapshot.Lookup{Coordinates: coordinates(apiVersion, kind, path), Outcome: snapshot.Absent})
	}
}

// Failed adds a lookup at "namespace/name" or "name" that failed.
func Failed(apiVersion, kind, path string, reason snapshot.ErrorClass) Part {
	return func(s *snapshot.Snapshot) {
		s.Lookups = append(s.Lookups, snapshot.Lookup{
			Coordinates: coordinates(apiVersion, kind, path), Outcome: snapshot.Failed, Reason: reason, Message: "refused in a test",
		})
	}
}

func coordinates(apiVersion, kind, path string) snapshot.Coordinates {
	namespace, name := splitPath(path)
	return snapshot.Coordinates{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

// Types returns the types of a small cluster: namespaced and cluster-scoped kinds, a
// resource served in two versions and one in two groups, a custom resource, and types that
// the collector does not watch.
func Types() []snapshot.Type {
	all := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	return []snapshot.Type{
		{Version: "v1", Resource: "pods", Kind: "Pod", Singular: "pod", ShortNames: []string{"po"}, Categories: []string{"all"}, Namespaced: true, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "configmaps", Kind: "ConfigMap", Singular: "configmap", ShortNames: []string{"cm"}, Namespaced: true, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "secrets", Kind: "Secret", Singular: "secret", Namespaced: true, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "services", Kind: "Service", Singular: "service", ShortNames: []string{"svc"}, Namespaced: true, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "nodes", Kind: "Node", Singular: "node", ShortNames: []string{"no"}, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "events", Kind: "Event", Singular: "event", ShortNames: []string{"ev"}, Namespaced: true, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "componentstatuses", Kind: "ComponentStatus", Singular: "componentstatus", ShortNames: []string{"cs"}, Verbs: []string{"get", "list"}, Preferred: true},
		{Group: "apps", Version: "v1", Resource: "deployments", Kind: "Deployment", Singular: "deployment", ShortNames: []string{"deploy"}, Categories: []string{"all"}, Namespaced: true, Verbs: all, Preferred: true},
		{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Singular: "replicaset", ShortNames: []string{"rs"}, Namespaced: true, Verbs: all, Preferred: true},
		{Group: "events.k8s.io", Version: "v1", Resource: "events", Kind: "Event", Singular: "event", ShortNames: []string{"ev"}, Namespaced: true, Verbs: all, Preferred: true},
		{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Singular: "widget", Namespaced: true, Verbs: all, Preferred: true},
		{Group: "legacy.example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Singular: "widget", Namespaced: true, Verbs: all, Preferred: true},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles", Kind: "Role", Singular: "role", Namespaced: true, Verbs: all, Preferred: true},
		{Group: "rbac.authorization.k8s.io", Version: "v1beta1", Resource: "roles", Kind: "Role", Singular: "role", Namespaced: true, Verbs: all},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles", Kind: "ClusterRole", Singular: "clusterrole", Verbs: all, Preferred: true},
		{Group: "rbac.authorization.k8s.io", Version: "v1beta1", Resource: "clusterroles", Kind: "ClusterRole", Singular: "clusterrole", Verbs: all},
	}
}

// Workloads returns types that other controllers manage. They are not among Types: see
// Serving.
func Workloads() []snapshot.Type {
	all := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	return []snapshot.Type{
		{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Singular: "persistentvolumeclaim", ShortNames: []string{"pvc"}, Namespaced: true, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume", Singular: "persistentvolume", ShortNames: []string{"pv"}, Verbs: all, Preferred: true},
		{Group: "batch", Version: "v1", Resource: "jobs", Kind: "Job", Singular: "job", Namespaced: true, Verbs: all, Preferred: true},
	}
}

// TypesWithContents returns the types whose objects are deleted with their contents. They are not
// among Types: see Serving.
func TypesWithContents() []snapshot.Type {
	all := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	return []snapshot.Type{
		{Version: "v1", Resource: "namespaces", Kind: "Namespace", Singular: "namespace", ShortNames: []string{"ns"}, Verbs: all, Preferred: true},
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Kind: "CustomResourceDefinition", Singular: "customresourcedefinition", ShortNames: []string{"crd"}, Verbs: all, Preferred: true},
	}
}

// Deduplicated adds objects to the lists as a scan does: those with one UID are merged, or
// marked as contested.
func Deduplicated(objects ...object.Object) Part {
	return func(s *snapshot.Snapshot) {
		var all snapshot.Deduper
		all.Add(s.Objects...)
		all.Add(Pointers(objects)...)
		s.Objects = all.Objects()
	}
}
