package reason

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What keeps a Namespace that has long been terminating. Each is said of the Namespace, as
// what follows its name.
var (
	VersionParsingFails = fixed("VersionParsingFails",
		"stays while the namespace controller cannot parse the version of an API group")
	ConditionsUnread = fixed("ConditionsUnread",
		"has conditions that this tool could not read, so it is unknown whether the namespace controller fails")
	NothingReported = fixed("NothingReported",
		"has no condition of the namespace controller, which may not be running")
	NothingHoldsNamespace = fixed("NothingHoldsNamespace",
		"should be gone: nothing holds it or its contents, so the namespace controller may not be running")
)

// HeldBySpecFinalizers means that finalizers in the spec of the Namespace keep it, besides that of the namespace controller.
var HeldBySpecFinalizers = says("HeldBySpecFinalizers", "finalizers", func(finalizers []string) string {
	return "is held by spec.finalizers: " + strings.Join(finalizers, ", ")
})

// DiscoveryFails means that the namespace controller reports that it cannot discover every API group.
type DiscoveryFails struct {
	Gaps        []Gap    `json:"gaps"`        // the groups that this scan could not discover either
	APIServices []string `json:"apiServices"` // those that stand for the groups, as far as they were read
	// Outdated reports that this scan discovered every group, so that the next attempt of the
	// namespace controller should succeed.
	Outdated bool `json:"outdated,omitzero"`
}

func (r DiscoveryFails) Message() string {
	if r.Outdated {
		return "stayed because the namespace controller could not discover every API group, but now every API group answers"
	}
	what := "every API group"
	if len(r.Gaps) > 0 {
		what = listGaps(r.Gaps)
	}
	text := "stays while the namespace controller cannot discover " + what
	if len(r.APIServices) > 0 {
		text += ": see " + first(3, r.APIServices, ", ", "and %d more", func(name string) string { return "APIService " + name })
	}
	return text
}

// TypeCount counts objects of one type.
type TypeCount struct {
	Type    string `json:"type"` // resource.group
	Objects int    `json:"objects"`
}

func listTypes(types []TypeCount) string {
	return first(3, types, ", ", "and %d more types", func(c TypeCount) string { return fmt.Sprintf("%s (%d)", c.Type, c.Objects) })
}

// ContentsDeletionFails means that the namespace controller reports that it cannot delete contents of the Namespace.
type ContentsDeletionFails struct {
	Gaps      []Gap       `json:"gaps"`      // types that this scan could not list either
	Undeleted []TypeCount `json:"undeleted"` // objects that are still not being deleted
	// Outdated reports that this scan found no contents, so that the next attempt of the
	// namespace controller should succeed.
	Outdated bool `json:"outdated,omitzero"`
}

func (r ContentsDeletionFails) Message() string {
	if r.Outdated {
		return "stayed because the namespace controller could not delete some of its contents, which are gone now"
	}
	var what []string
	if len(r.Gaps) > 0 {
		what = append(what, "the API server cannot list "+listGaps(r.Gaps))
	}
	if len(r.Undeleted) > 0 {
		what = append(what, "the namespace controller cannot delete "+listTypes(r.Undeleted))
	}
	if len(what) == 0 {
		what = []string{"the namespace controller cannot delete some of its contents"}
	}
	return "stays while " + strings.Join(what, ", and while ")
}

// FinalizerCount counts the objects that a finalizer holds.
type FinalizerCount struct {
	Finalizer string          `json:"finalizer"`
	Objects   int             `json:"objects"`
	First     object.Identity `json:"first"` // of these objects
}

// ContentsLeft means that the Namespace is not empty.
type ContentsLeft struct {
	Types      []TypeCount      `json:"types"`
	Finalizers []FinalizerCount `json:"finalizers"` // of others than the collector, on these objects
	// OverduePods counts the Pods whose grace period is over.
	OverduePods int `json:"overduePods,omitzero"`
}

func (r ContentsLeft) Message() string {
	text := "still contains " + listTypes(r.Types)
	if len(r.Finalizers) > 0 {
		text += "; " + first(3, r.Finalizers, ", ", "and %d more finalizers", func(f FinalizerCount) string {
			if more := f.Objects - 1; more > 0 {
				return fmt.Sprintf("finalizer %s holds %s and %d more", f.Finalizer, f.First, more)
			}
			return fmt.Sprintf("finalizer %s holds %s", f.Finalizer, f.First)
		})
	}
	if r.OverduePods > 0 {
		text += "; " + Count(r.OverduePods, "Pod") + " should have stopped"
	}
	return text
}
