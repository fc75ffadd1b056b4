package collector

import (
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// NewestRelease is the newest release of Kubernetes whose rules this program knows.
const NewestRelease = "1.36"

// Behavior is what the rules of the garbage collector and of the namespace controller
// depend on besides the objects: the release of the server. docs/versions.md lists all known
// differences between releases; a prediction depends on these.
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

// BehaviorOf returns the behavior of a server with this git version, such as "v1.36.3". A
// server whose version is empty, cannot be parsed or is newer than NewestRelease behaves
// like NewestRelease.
func BehaviorOf(server string) Behavior {
	release := version.MustParseGeneric(NewestRelease)
	v, err := version.ParseGeneric(server)
	assumed := err != nil || release.LessThan(version.MajorMinor(v.Major(), v.Minor()))
	if !assumed {
		release = version.MajorMinor(v.Major(), v.Minor())
	}
	since := func(minor uint) bool { return release.AtLeast(version.MajorMinor(1, minor)) }
	return Behavior{
		Assumed: assumed, server: server,
		IdentityAwareOwners: since(20), NamesGraphByController: since(28), StartsWithUnsyncedTypes: since(32),
		OrderedNamespaceDeletion: since(33), DeleteNamesResourceVersion: since(34),
	}
}

// Assumption returns what to tell the user if the behavior is assumed; otherwise it
// returns nil.
func (b Behavior) Assumption() reason.Reason {
	if !b.Assumed {
		return nil
	}
	return reason.VersionAssumed{Server: b.server, Known: NewestRelease}
}
