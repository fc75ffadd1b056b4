package object

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The two finalizers that are the collector's own. Every other one is foreign.
const (
	ForegroundFinalizer = metav1.FinalizerDeleteDependents
	OrphanFinalizer     = metav1.FinalizerOrphanDependents
)

// Object is what one look saw of an object: enough to foretell what the
// collector does with it, and no more.
type Object struct {
	Identity        `json:",inline"`
	ResourceVersion string     `json:"resourceVersion,omitempty"`
	Created         time.Time  `json:"created,omitzero"`
	Deleted         *time.Time `json:"deleted,omitempty"` // deletionTimestamp; nil while not terminating
	GraceSeconds    *int64     `json:"graceSeconds,omitempty"`
	Running         bool       `json:"running,omitempty"` // a Pod that a kubelet has to stop, if the look asked for that
	// Contested reports that objects with another namespace, name or creation time were
	// read with the same UID. Their identities are among the Aliases. Which of them the
	// UID belongs to is unknown, so nothing may be concluded from this one.
	Contested bool `json:"contested,omitempty"`
	// Claims are the names of the PersistentVolumeClaims that a Pod on a node mounts,
	// and the namespace/name of the one that a PersistentVolume is bound to. Nil where
	// nobody asked, empty where there are none.
	Claims     []string          `json:"claims,omitzero"`
	Owners     []Reference       `json:"owners,omitempty"` // in the order of the metadata
	Finalizers []string          `json:"finalizers,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`  // nil where the look did not ask for them
	Aliases    []Identity        `json:"aliases,omitempty"` // further identities with which the same UID was read
}

// Terminating says whether a DELETE has been accepted and the object is still there.
func (o *Object) Terminating() bool { return o.Deleted != nil }

// DeletingDependents says whether the object is in a foreground deletion: what
// makes it "waiting" in the eyes of its dependents
// (docs/gc-semantics.md#waiting-and-solid-owners).
func (o *Object) DeletingDependents() bool {
	return o.Terminating() && slices.Contains(o.Finalizers, ForegroundFinalizer)
}

// Orphaning says whether the object waits for its dependents to be orphaned
// (docs/gc-semantics.md#orphaning).
func (o *Object) Orphaning() bool {
	return o.Terminating() && slices.Contains(o.Finalizers, OrphanFinalizer)
}

// Finishing says whether the object's deletion is the collector's to end, once
// its dependents let it (docs/gc-semantics.md#foreground-deletion, #orphaning).
func (o *Object) Finishing() bool { return o.DeletingDependents() || o.Orphaning() }

// Stopping says whether the object waits for its grace period to end
// (docs/gc-semantics.md#graceful-pods).
func (o *Object) Stopping() bool {
	return o.Terminating() && o.GraceSeconds != nil && *o.GraceSeconds > 0
}

// ForeignFinalizers are those that are not the collector's, in their order.
func (o *Object) ForeignFinalizers() []string {
	var out []string
	for _, f := range o.Finalizers {
		if f != ForegroundFinalizer && f != OrphanFinalizer {
			out = append(out, f)
		}
	}
	return out
}

// At says whether the object is served as apiVersion and kind in that namespace
// and name, under its identity or one of its aliases.
func (o *Object) At(apiVersion, kind, namespace, name string) bool {
	is := func(i Identity) bool {
		return i.Name == name && i.Kind == kind && i.Namespace == namespace && i.APIVersion == apiVersion
	}
	return is(o.Identity) || slices.ContainsFunc(o.Aliases, is)
}

// Same reports whether two objects that have the same UID are one object, served under
// two names: everything but the apiVersion and kind must agree that no server changes.
func (o *Object) Same(other *Object) bool {
	return o.Namespace == other.Namespace && o.Name == other.Name && o.Created.Equal(other.Created)
}

// MatchesIdentity says whether the sight of o alone shows that a reference of a
// dependent in that namespace leads to it: the same apiVersion, kind and name,
// in the dependent's namespace or in none
// (docs/gc-semantics.md#namespace-of-an-owner). The UID is the caller's to
// compare. A contested UID proves nothing.
func (o *Object) MatchesIdentity(r Reference, namespace string) bool {
	if o.Contested {
		return false
	}
	return o.At(r.APIVersion, r.Kind, namespace, r.Name) || namespace != "" && o.At(r.APIVersion, r.Kind, "", r.Name)
}

// FromMeta reads an object's metadata. Kind and apiVersion are the caller's, as
// list items need not carry their own
// (docs/gc-semantics.md#metadata-and-kinds). labels says whether to keep them.
func FromMeta(apiVersion, kind string, m metav1.Object, labels bool) Object {
	o := Object{
		Identity: Identity{
			APIVersion: apiVersion, Kind: kind,
			Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(),
		},
		ResourceVersion: m.GetResourceVersion(),
		Created:         m.GetCreationTimestamp().UTC(),
		GraceSeconds:    m.GetDeletionGracePeriodSeconds(),
		Owners:          ReferencesOf(m.GetOwnerReferences()),
		Finalizers:      m.GetFinalizers(),
	}
	if d := m.GetDeletionTimestamp(); d != nil {
		t := d.UTC()
		o.Deleted = &t
	}
	if labels {
		o.Labels = m.GetLabels()
	}
	return o
}
