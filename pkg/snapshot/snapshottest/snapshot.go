package snapshottest

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Taken is when every snapshot of this package was taken.
var Taken = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// Part adds to a snapshot under construction.
type Part func(*snapshot.Snapshot)

// New is a whole and sorted view of a cluster that serves Types, every
// monitored one of them listed everywhere, changed by the parts in their order.
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
	s.Sort()
	return s
}

// Listing shows objects in the lists.
func Listing(objects ...object.Object) Part {
	return func(s *snapshot.Snapshot) { s.Objects = append(s.Objects, Pointers(objects)...) }
}

// Pointers leads to a copy of each object.
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

// Unlisted takes back that "resource" or "resource.group" was listed, without
// saying why.
func Unlisted(resource string) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		s.Listed = slices.DeleteFunc(s.Listed, func(l snapshot.Listing) bool {
			return l.Group == group && l.Resource == name
		})
	}
}

// ListedIn says that "resource" or "resource.group" was listed in one namespace only.
func ListedIn(resource, namespace string) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		Unlisted(resource)(s)
		s.Listed = append(s.Listed, snapshot.Listing{Group: group, Resource: name, Namespace: namespace})
	}
}

// Unreadable says that "resource" or "resource.group" could not be listed.
func Unreadable(resource string, reason snapshot.ErrorClass) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		Unlisted(resource)(s)
		s.Gaps = append(s.Gaps, snapshot.Gap{Group: group, Resource: name, Reason: reason})
	}
}

// Unsearched says that "resource" or "resource.group" could not be searched for
// lost owners in other namespaces.
func Unsearched(resource string) Part {
	name, group, _ := strings.Cut(resource, ".")
	return func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{Group: group, Resource: name, Namespace: snapshot.All, Reason: snapshot.Forbidden})
	}
}

// Undiscovered says that a group could not be discovered: none of its types is known.
func Undiscovered(group string, reason snapshot.ErrorClass) Part {
	return func(s *snapshot.Snapshot) {
		s.Types = slices.DeleteFunc(s.Types, func(t snapshot.Type) bool { return t.Group == group })
		s.Listed = slices.DeleteFunc(s.Listed, func(l snapshot.Listing) bool { return l.Group == group })
		s.Gaps = append(s.Gaps, snapshot.Gap{Group: group, Resource: snapshot.All, Reason: reason})
	}
}

// Found answers a lookup at the object's own coordinates with the object.
func Found(o object.Object) Part { return FoundAs(o.APIVersion, o.Kind, o) }

// FoundAs answers a lookup that asked for the object's place by another version
// or spelling of its kind. The object is as a list would show it.
func FoundAs(apiVersion, kind string, o object.Object) Part {
	return func(s *snapshot.Snapshot) {
		s.Lookups = append(s.Lookups, snapshot.Lookup{
			Coordinates: snapshot.Coordinates{APIVersion: apiVersion, Kind: kind, Namespace: o.Namespace, Name: o.Name},
			Outcome:     snapshot.Found, Object: &o,
		})
	}
}

// Absent answers a lookup at "namespace/name" or "name" with: nothing there.
func Absent(apiVersion, kind, at string) Part {
	return func(s *snapshot.Snapshot) {
		s.Lookups = append(s.Lookups, snapshot.Lookup{Coordinates: coordinates(apiVersion, kind, at), Outcome: snapshot.Absent})
	}
}

// Failed lets a lookup at "namespace/name" or "name" fail.
func Failed(apiVersion, kind, at string, reason snapshot.ErrorClass) Part {
	return func(s *snapshot.Snapshot) {
		s.Lookups = append(s.Lookups, snapshot.Lookup{
			Coordinates: coordinates(apiVersion, kind, at), Outcome: snapshot.Failed, Reason: reason, Message: "refused in a test",
		})
	}
}

func coordinates(apiVersion, kind, at string) snapshot.Coordinates {
	namespace, name := place(at)
	return snapshot.Coordinates{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

// Types are those of a small cluster: namespaced and cluster-scoped kinds, a
// resource served in two versions and under two groups, a custom resource, and
// what the collector does not watch.
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

// Workloads are the types that controllers beside the collector look after. They
// are not among Types: see Serving.
func Workloads() []snapshot.Type {
	all := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	return []snapshot.Type{
		{Version: "v1", Resource: "persistentvolumeclaims", Kind: "PersistentVolumeClaim", Singular: "persistentvolumeclaim", ShortNames: []string{"pvc"}, Namespaced: true, Verbs: all, Preferred: true},
		{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume", Singular: "persistentvolume", ShortNames: []string{"pv"}, Verbs: all, Preferred: true},
		{Group: "batch", Version: "v1", Resource: "jobs", Kind: "Job", Singular: "job", Namespaced: true, Verbs: all, Preferred: true},
	}
}

// Containers are the types whose objects take others along when they are
// deleted. They are not among Types: see Serving.
func Containers() []snapshot.Type {
	all := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	return []snapshot.Type{
		{Version: "v1", Resource: "namespaces", Kind: "Namespace", Singular: "namespace", ShortNames: []string{"ns"}, Verbs: all, Preferred: true},
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions", Kind: "CustomResourceDefinition", Singular: "customresourcedefinition", ShortNames: []string{"crd"}, Verbs: all, Preferred: true},
	}
}

// Collected shows objects in the lists as a scan gathers them: those with one UID are
// merged, or marked as contested.
func Collected(objects ...object.Object) Part {
	return func(s *snapshot.Snapshot) {
		var all snapshot.Deduper
		all.Add(s.Objects...)
		all.Add(Pointers(objects)...)
		s.Objects = all.Objects()
	}
}
