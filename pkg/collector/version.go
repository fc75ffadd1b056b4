package collector

import (
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// NewestRelease is the newest release of Kubernetes whose rules this program knows.
const NewestRelease = "1.36"

// Behavior is what the rules of the garbage collector and of the namespace controller
// depend on besides the objects: the release of the server.
type Behavior struct {
	// Assumed reports that the release is not known, or is newer than NewestRelease, whose
	// rules then apply.
	Assumed bool
	server  string

	// IdentityAwareOwners reports that each reference is judged at its own coordinates, and
	// that a cluster-scoped object with a namespaced owner is left alone. Before, absence was
	// remembered by UID alone, and the owner of such an object counted as absent.
	IdentityAwareOwners bool
	// NamesGraphByController reports that the path of the collector's debug graph has the name
	// garbage-collector-controller. Before, it was garbagecollector.
	NamesGraphByController bool
	// StartsWithUnsyncedTypes reports that a type that cannot be listed does not stop the
	// collector.
	StartsWithUnsyncedTypes bool
	// OrderedNamespaceDeletion reports that the namespace controller deletes the Pods of a
	// namespace first, and nothing else until no Pod is left.
	OrderedNamespaceDeletion bool
	// DeleteNamesResourceVersion reports that the collector's DELETE names the
	// resourceVersion that it judged.
	DeleteNamesResourceVersion bool
}

// Change is a difference between releases of Kubernetes. docs/versions.md is written from
// Changes.
type Change struct {
	Since    string // the first release with the change, such as "1.33"
	Change   string // what it does since then
	Before   string // what it did before
	Concerns string // for whom that matters
	Modeled  string // what this program does about it
	Upstream string // the function or feature gate, and its file
	// field returns the field of Behavior that reports the change; nil if no prediction
	// depends on it.
	field func(*Behavior) *bool
}

// Changes are all differences between releases that this program knows, in the order of
// the releases.
var Changes = []Change{
	{
		Since: "1.16", Change: "notices a second DELETE with `orphan` or `foregroundDeletion`",
		Before:   "ignored it, and the deletion never completed (#77081)",
		Concerns: "foreground and orphan deletions of objects that were terminating already",
		Modeled:  "predicts every server as if it noticed", Upstream: "`startsWaitingForDependentsDeleted` in `graph_builder.go`",
	},
	{
		Since: "1.20", Change: "judges each reference at its own coordinates, leaves a cluster-scoped object with a namespaced owner alone, and sends Events about owners in other namespaces",
		Before:   "remembered absence by UID alone, so that one bad reference could delete valid dependents (#65200), and treated the owner of such an object as absent",
		Concerns: "references across namespaces, and from cluster-scoped objects",
		Modeled:  "`delete` predicts the deletion of such a cluster-scoped object; all commands warn that valid dependents may be deleted",
		Upstream: "`isDangling` in `garbagecollector.go`, `ReferenceCache` in `uid_cache.go`",
		field:    func(b *Behavior) *bool { return &b.IdentityAwareOwners },
	},
	{
		Since: "1.21", Change: "a reference from another namespace does not mislead other dependents about a cluster-scoped owner",
		Before:   "it could, until the owner was seen (#98040); patches of 1.20 have the correction, too",
		Concerns: "references with the right UID and wrong coordinates", Modeled: "predicts every version alike", Upstream: "`addDependentToOwners` in `graph_builder.go`",
	},
	{
		Since: "1.23", Change: "an API server that starts answers 503 for paths that it does not serve yet",
		Before:   "it answered 404, which the collector takes for absence (#104342)",
		Concerns: "clusters whose API server restarts", Modeled: "never takes such a 404 for absence, whatever the version", Upstream: "`notfoundhandler` of the API server",
	},
	{
		Since: "1.25", Change: "ignores Events of `events.k8s.io`, as it always ignored those of the core group",
		Before:   "watched them, so that Events could have and block owners; a CronJob of batch/v1beta1 orphaned its Jobs by default",
		Concerns: "Events with owner references, which hardly exist",
		Modeled:  "reads Events of no version, and predicts nothing about them", Upstream: "`DefaultIgnoredResources` in `graph_builder.go`",
	},
	{
		Since: "1.28", Change: "is called `garbage-collector-controller` in the path of its debug graph",
		Before: "it was called `garbagecollector`", Concerns: "whoever reads its debug graph", Modeled: "`doctor` requests the path of the version", Upstream: "`ServeHTTP` in `dump.go`",
		field: func(b *Behavior) *bool { return &b.NamesGraphByController },
	},
	{
		Since: "1.29", Change: "continues to watch the types of a group that discovery cannot reach at the moment",
		Before:   "stopped, and forgot that it had watched them",
		Concerns: "clusters with an aggregated API that fails", Modeled: "predicts every version alike", Upstream: "`Sync` in `garbagecollector.go`",
	},
	{
		Since: "1.32", Change: "starts after 30 s even if it could not list every type, and works without those types",
		Before:   "did nothing at all until it had listed every type once (#101078)",
		Concerns: "clusters where a type cannot be listed when the controller manager starts, such as one whose conversion webhook fails",
		Modeled:  "`why` warns, since a scan does not show whether the type was listed before",
		Upstream: "`Run` in `garbagecollector.go`",
		field:    func(b *Behavior) *bool { return &b.StartsWithUnsyncedTypes },
	},
	{
		Since: "1.33", Change: "the namespace controller deletes the Pods of a namespace first, and nothing else until none is left; always since 1.34",
		Before:   "it deleted all contents at once",
		Concerns: "the deletion of a namespace with a Pod that stays, because a finalizer holds it or its node does not respond",
		Modeled:  "predicts that the other contents stay until the Pods are gone; does not know if 1.33 runs without the feature gate",
		Upstream: "`OrderedNamespaceDeletion`, `deleteAllContent` in `namespaced_resources_deleter.go`",
		field:    func(b *Behavior) *bool { return &b.OrderedNamespaceDeletion },
	},
	{
		Since: "1.34", Change: "its DELETE names the resourceVersion that it judged, so the one right after it changed the object to break a cycle is refused",
		Before:   "it named only the UID, so it missed references that were added meanwhile (#114603), and that DELETE succeeded",
		Concerns: "foreground deletions of cycles",
		Modeled:  "predicts the refused DELETE and what follows from it",
		Upstream: "`attemptToDeleteItem` in `garbagecollector.go`",
		field:    func(b *Behavior) *bool { return &b.DeleteNamesResourceVersion },
	},
	{
		Since: "1.36", Change: "removes an object from its graph when the DELETE is answered with 404",
		Before: "it tried again", Concerns: "nobody, apart from its log", Modeled: "predicts every version alike", Upstream: "`attemptToDeleteItem` in `garbagecollector.go`",
	},
}

// BehaviorOf returns the behavior of a server with this git version, such as "v1.36.3". A
// server whose version is empty, cannot be parsed or is newer than NewestRelease behaves
// like NewestRelease.
func BehaviorOf(server string) Behavior {
	out := Behavior{server: server}
	release := version.MustParseGeneric(NewestRelease)
	if v, err := version.ParseGeneric(server); err != nil || release.LessThan(version.MajorMinor(v.Major(), v.Minor())) {
		out.Assumed = true
	} else {
		release = version.MajorMinor(v.Major(), v.Minor())
	}
	for _, c := range Changes {
		if c.field != nil {
			*c.field(&out) = release.AtLeast(version.MustParseGeneric(c.Since))
		}
	}
	return out
}

// Assumption returns what to tell the user if the behavior is assumed; otherwise it
// returns nil.
func (b Behavior) Assumption() reason.Reason {
	if !b.Assumed {
		return nil
	}
	return reason.VersionAssumed{Server: b.server, Known: NewestRelease}
}
