package collector

import (
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// The oldest and the newest release of Kubernetes whose rules this program knows.
const (
	OldestRelease = "1.28"
	NewestRelease = "1.37"
)

// Behavior is what the rules of the garbage collector and of the namespace controller
// depend on besides the objects: the release of the server. docs/versions.md lists all known
// differences between releases; a prediction depends on these.
type Behavior struct {
	assumed *reason.Reason // nil if the release is one that this program knows
	newer   bool           // than NewestRelease

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

// BehaviorOf returns the behavior of a server with this git version, such as "v1.37.2". A
// server whose version is empty, cannot be parsed or is newer than NewestRelease behaves
// like NewestRelease, and one that is older than OldestRelease like that.
func BehaviorOf(server string) Behavior {
	oldest, release := version.MustParseGeneric(OldestRelease), version.MustParseGeneric(NewestRelease)
	var assumed *reason.Reason
	v, err := version.ParseGeneric(server)
	newer := err == nil && release.LessThan(version.MajorMinor(v.Major(), v.Minor()))
	switch {
	case err != nil || newer:
		assumed = reason.Of(reason.VersionAssumed{Server: server, Known: NewestRelease})
	case v.LessThan(oldest):
		assumed, release = reason.Of(reason.VersionAssumed{Server: server, Known: OldestRelease, Older: true}), oldest
	default:
		release = version.MajorMinor(v.Major(), v.Minor())
	}
	since := func(minor uint) bool { return release.AtLeast(version.MajorMinor(1, minor)) }
	return Behavior{
		assumed: assumed, newer: newer, StartsWithUnsyncedTypes: since(32), OrderedNamespaceDeletion: since(33), DeleteNamesResourceVersion: since(34),
	}
}

// Newer reports whether the server is newer than NewestRelease. That is not known of a version that
// cannot be parsed.
func (b Behavior) Newer() bool { return b.newer }

// Assumption returns what to tell the user if the server is predicted as if it were of another
// release; otherwise it returns nil.
func (b Behavior) Assumption() *reason.Reason { return b.assumed }
