package object

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The collector's own finalizers. All others are foreign.
const (
	ForegroundFinalizer = metav1.FinalizerDeleteDependents
	OrphanFinalizer     = metav1.FinalizerOrphanDependents
)

// Object is the metadata of an object that decides what the collector does with it.
type Object struct {
	Identity        `json:",inline"`
	ResourceVersion string     `json:"resourceVersion,omitempty"`
	Created         time.Time  `json:"created,omitzero"`
	Deleted         *time.Time `json:"deleted,omitempty"` // deletionTimestamp; nil while not terminating
	GraceSeconds    *int64     `json:"graceSeconds,omitempty"`
	Running         bool       `json:"running,omitempty"` // a Pod that a kubelet has to stop, if the scan read Pods
	// Contested reports that objects with another namespace, name or creation time were
	// read with the same UID. Their identities are among the Aliases. It is unknown to
	// which of them the UID belongs, so this object proves nothing.
	Contested bool `json:"contested,omitempty"`
	// Claims are what the object uses: of a Pod on a node the names of the PersistentVolumeClaims that it
	// mounts, and as Kind/name its ResourceClaims and PodGroup; as Kind/name what a
	// PersistentVolumeClaim is being created from; the namespace/name of the claim that a
	// PersistentVolume is bound to, or of the snapshot of a VolumeSnapshotContent; the name of the
	// PersistentVolume that a VolumeAttachment is for; or the names of the Pods that a ResourceClaim is
	// reserved for. Nil if they were not read, empty if there are none.
	Claims []string `json:"claims,omitzero"`
	// Storage is what the object says about data. Nil if it holds none, or if that was not read.
	Storage *Storage `json:"storage,omitempty"`
	// NamespaceStatus is what a terminating Namespace says about its deletion. Nil if the object
	// is none, or if that was not read.
	NamespaceStatus *NamespaceStatus  `json:"namespaceStatus,omitempty"`
	Status          *DeletionStatus   `json:"status,omitempty"`    // nil if the object is not being deleted, or if it was not read
	Node            *PodNode          `json:"node,omitempty"`      // of a Pod; nil if it has none, or if that was not read
	Lifecycle       *Lifecycle        `json:"lifecycle,omitempty"` // nil if it was not read
	Owners          []Reference       `json:"owners,omitempty"`    // in the order of the metadata
	Finalizers      []string          `json:"finalizers,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`  // nil if they were not requested
	Aliases         []Identity        `json:"aliases,omitempty"` // other identities with which the same UID was read
}

// Terminating reports whether the object has a deletionTimestamp.
func (o *Object) Terminating() bool { return o.Deleted != nil }

// DeletingDependents reports whether the object is in a foreground deletion, so that its
// dependents regard it as waiting (docs/gc-semantics.md#waiting-and-solid-owners).
func (o *Object) DeletingDependents() bool {
	return o.Terminating() && slices.Contains(o.Finalizers, ForegroundFinalizer)
}

// Orphaning reports whether the object waits for its dependents to be orphaned
// (docs/gc-semantics.md#orphaning).
func (o *Object) Orphaning() bool {
	return o.Terminating() && slices.Contains(o.Finalizers, OrphanFinalizer)
}

// HasCollectorFinalizer reports whether the object is terminating and has a finalizer of the collector
// (docs/gc-semantics.md#foreground-deletion, #orphaning).
func (o *Object) HasCollectorFinalizer() bool { return o.DeletingDependents() || o.Orphaning() }

// InGracePeriod reports whether the object waits for its grace period to end
// (docs/gc-semantics.md#graceful-pods).
func (o *Object) InGracePeriod() bool {
	return o.Terminating() && o.GraceSeconds != nil && *o.GraceSeconds > 0
}

// DeletionRequested returns when the deletion of a terminating object was requested. The deletion
// timestamp of a Pod that is stopping is later: it is the end of the grace period.
func (o *Object) DeletionRequested() time.Time {
	if o.InGracePeriod() {
		return o.Deleted.Add(-time.Duration(*o.GraceSeconds) * time.Second)
	}
	return *o.Deleted
}

// Overdue reports whether the object is a Pod whose grace period was over at that time.
func (o *Object) Overdue(at time.Time) bool { return o.InGracePeriod() && at.After(*o.Deleted) }

// Controlled reports whether an owner is the object's managing controller.
func (o *Object) Controlled() bool { return slices.ContainsFunc(o.Owners, Reference.Controls) }

// ForeignFinalizers returns the finalizers that are not the collector's, in their order.
func (o *Object) ForeignFinalizers() []string {
	var out []string
	for _, f := range o.Finalizers {
		if f != ForegroundFinalizer && f != OrphanFinalizer {
			out = append(out, f)
		}
	}
	return out
}

// ServedAs reports whether the object's identity or one of its aliases has that apiVersion, kind,
// namespace and name.
func (o *Object) ServedAs(apiVersion, kind, namespace, name string) bool {
	is := func(i Identity) bool {
		return i.Name == name && i.Kind == kind && i.Namespace == namespace && i.APIVersion == apiVersion
	}
	return is(o.Identity) || slices.ContainsFunc(o.Aliases, is)
}

// Same reports whether two objects with the same UID are one object that is served as two
// types: namespace, name and creation time never change.
func (o *Object) Same(other *Object) bool {
	return o.Namespace == other.Namespace && o.Name == other.Name && o.Created.Equal(other.Created)
}

// MatchesIdentity reports whether a reference of a dependent in that namespace names o: the
// same apiVersion, kind and name, and o is in the dependent's namespace or in none
// (docs/gc-semantics.md#namespace-of-an-owner). The caller compares the UID. An object with
// a contested UID never matches.
func (o *Object) MatchesIdentity(r Reference, namespace string) bool {
	if o.Contested {
		return false
	}
	return o.ServedAs(r.APIVersion, r.Kind, namespace, r.Name) || namespace != "" && o.ServedAs(r.APIVersion, r.Kind, "", r.Name)
}

// FromMeta returns the object with the given metadata. apiVersion and kind are parameters,
// as items of lists may lack them (docs/gc-semantics.md#metadata-and-kinds). The labels are
// kept only on request.
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

// Right is a permission: a verb on objects of one kind in one namespace.
type Right struct {
	Verb    string     // as in kubectl auth can-i
	Objects []Identity // never empty
}

// Columns are what the API server prints of an object, as in kubectl get. Each may be empty: not every type has
// every column.
type Columns struct{ Ready, Status, Age string }
