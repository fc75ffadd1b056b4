package reason

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What a check of the cluster's own garbage collector found (kubectl gc doctor).
var (
	GroupsAvailable             = fixed("GroupsAvailable", "every API group answers")
	ForegroundDeletionSupported = fixed("ForegroundDeletionSupported", "the API server honors foreground deletion (dry run)")
	ForegroundDeletionIgnored   = fixed("ForegroundDeletionIgnored", "the API server ignores foreground deletion (dry run), as with --enable-garbage-collector=false")
	LeaseNotHeld                = fixed("LeaseNotHeld", "no kube-controller-manager holds the lease")
	NoLease                     = fixed("NoLease", "there is no lease of kube-controller-manager: it runs without leader election, or not in this cluster")
	NoGarbage                   = fixed("NoGarbage", "there is nothing to collect")
	NoLongDeletion              = fixed("NoLongDeletion", "no deletion is taking long")
	NoOwnersInOtherNamespaces   = fixed("NoOwnersInOtherNamespaces", "no OwnerRefInvalidNamespace Events")

	ManagerUnknown = fixed("ManagerUnknown", "whether the controller manager is running is unknown: its lease could not be read")
	// kube-controller-manager has renewed its lease within the last minute
	ManagerRuns = says("ManagerRuns", "ago", func(ago metav1.Duration) string {
		return fmt.Sprintf("the controller manager renewed its lease %s ago", duration.HumanDuration(ago.Duration))
	})
	// kube-controller-manager released its lease within the last minute, as it may when it exits
	LeaseReleased = says("LeaseReleased", "ago", func(ago metav1.Duration) string {
		return fmt.Sprintf("the controller manager released its lease %s ago, and no other has taken it yet", duration.HumanDuration(ago.Duration))
	})
	// kube-controller-manager has not renewed its lease within the last minute
	ManagerSilent = says("ManagerSilent", "ago", func(ago metav1.Duration) string {
		return fmt.Sprintf("the controller manager may be down: it last renewed its lease %s ago", duration.HumanDuration(ago.Duration))
	})

	NotChecked = with[string]("NotChecked", "detail", "not checked: %s")
	// every type was listed
	TypesListed       = with[int]("TypesListed", "types", "%d of %[1]d types")
	LeaderRenewsLease = with[string]("LeaderRenewsLease", "holderIdentity", "%s renews its lease")
	// the collector deleted the dependent of an owner that this tool created and deleted (--canary)
	CanaryCollected = says("CanaryCollected", "took", func(took metav1.Duration) string {
		return fmt.Sprintf("the garbage collector deleted a dependent %s after its owner", took.Duration)
	})
	// the collector did not delete the dependent of the deleted owner (--canary)
	CanaryNotCollected = says("CanaryNotCollected", "waited", func(waited metav1.Duration) string {
		return fmt.Sprintf("a dependent still existed %s after its owner was deleted", waited.Duration)
	})
	// the API server does not know what some API groups serve; backends are those that could be read
	GroupsUnavailable = says2("GroupsUnavailable", "gaps backends", func(gaps []Gap, read []Backend) string {
		if len(read) == 0 {
			return listGaps(gaps)
		}
		return backends(read)
	})
	// objects which the collector had to delete or change were gone or changed some time later
	GarbageProcessed = says2("GarbageProcessed", "objects after", func(objects int, after metav1.Duration) string {
		return fmt.Sprintf("the garbage collector processed %s within %s", Count(objects, "object"), after.Duration)
	})
	// the collector reported references to owners in other namespaces
	OwnersInOtherNamespaces = says2("OwnersInOtherNamespaces", "objects first", func(objects int, first object.Identity) string {
		return fmt.Sprintf("OwnerRefInvalidNamespace Events about %s, such as %s", Count(objects, "object"), located(first))
	})
	// this tool knows the garbage collector of the server's version
	BehaviorKnown = with[string]("BehaviorKnown", "server", "%s")
)

// Leader is the lease of kube-controller-manager, watched for some time.
type Leader struct {
	Exists  bool
	Holder  string        // empty if nothing holds it
	Renewed time.Time     // the last time, by the clock of the holder
	Renews  bool          // it was renewed while it was watched
	Watched time.Duration // for how long it was watched
}

// Admission is what admission webhooks and policies do to writes.
type Admission struct {
	Refused  []WebhookRefuses
	Accepted int    // how many dry runs
	Unknown  string // why more may be refused; empty if all that they match was tried
}

// CanaryTest is what the collector did with a dependent whose owner was deleted.
type CanaryTest struct {
	Collected bool          // the dependent is gone
	Took      time.Duration // until it was seen to be gone, or for how long that was waited for
}

// Backend is what an API group or a type depends on, as far as it could be read.
type Backend struct {
	Serves  string          `json:"serves"`            // the group and version, or the type
	Object  object.Identity `json:"object"`            // the APIService or CustomResourceDefinition
	Service string          `json:"service,omitempty"` // namespace/name; empty if it is none
	State   BackendState    `json:"state"`
	Detail  string          `json:"detail,omitempty"` // what the API server says, or the error of reading the service
}

// BackendState is the state of the service of a Backend.
type BackendState string

// The states.
const (
	BackendUnknown     BackendState = "unknown"
	BackendMissing     BackendState = "service-missing"
	BackendNoEndpoints BackendState = "no-endpoints" // the service has no ready endpoint
	BackendReady       BackendState = "endpoints-ready"
	BackendExternal    BackendState = "external" // a URL, or the API server itself
)

// Role returns what the object does for the type or group.
func (b Backend) Role() string {
	if b.Object.IsCRD() {
		return "conversion webhook"
	}
	return b.Object.String()
}

// String returns what is wrong with the backend.
func (b Backend) String() string {
	text := b.Serves + ": " + b.Role()
	switch b.State {
	case BackendMissing:
		return text + ", service " + b.Service + " does not exist"
	case BackendNoEndpoints:
		return text + ", service " + b.Service + " has no endpoints"
	case BackendReady:
		text += ", service " + b.Service + " has endpoints, but does not answer"
	case BackendExternal, BackendUnknown:
	}
	if b.Detail != "" {
		text += " (" + b.Detail + ")"
	}
	return text
}

func backends(all []Backend) string {
	return first(3, all, "; ", "and %d more", Backend.String)
}

// TypesNotListed means that some types could not be listed.
type TypesNotListed struct {
	Types    int       `json:"types"` // that should be listed
	Gaps     []Gap     `json:"gaps"`
	Backends []Backend `json:"backends"` // of types whose conversion fails, if it could be read
}

func (r TypesNotListed) Message() string {
	text := fmt.Sprintf("%d of %d types; could not list %s", r.Types-len(r.Gaps), r.Types, listGaps(r.Gaps))
	if len(r.Backends) > 0 {
		text += "; " + backends(r.Backends)
	}
	return text
}

// LeaderSilent means that the holder of the lease of kube-controller-manager did not renew it in
// the time that it has for that.
type LeaderSilent struct {
	Holder  string          `json:"holderIdentity"`
	Renewed time.Time       `json:"renewed"` // the last time
	Watched metav1.Duration `json:"watched"` // for how long it was not renewed at least
}

func (r LeaderSilent) Message() string {
	return fmt.Sprintf("%s has not renewed its lease for at least %s, since %s", r.Holder, r.Watched.Duration, r.Renewed.UTC().Format(time.RFC3339))
}

// GarbageLeft means that nothing has processed the objects that the collector has to delete or
// change.
type GarbageLeft struct {
	Objects int             `json:"objects"`
	First   object.Identity `json:"first"`
	After   metav1.Duration `json:"after"`
}

func (r GarbageLeft) Message() string {
	return fmt.Sprintf("%s to collect, not processed for at least %s, such as %s", Count(r.Objects, "object"), r.After.Duration, located(r.First))
}

// GarbageProcessedSlowly means that the collector processed only some of the objects.
type GarbageProcessedSlowly struct {
	Processed int             `json:"processed"`
	Left      int             `json:"left"`
	After     metav1.Duration `json:"after"`
}

func (r GarbageProcessedSlowly) Message() string {
	return fmt.Sprintf("the garbage collector processed %s within %s, and left %d", Count(r.Processed, "object"), r.After.Duration, r.Left)
}

// DeletionsIdle means that deletions which nothing blocks are not completed by the collector.
type DeletionsIdle struct {
	Objects int             `json:"objects"`
	Oldest  object.Identity `json:"oldest"`
	Since   Since           `json:"since"` // of the oldest
}

func (r DeletionsIdle) Message() string {
	return fmt.Sprintf("%s that only the garbage collector has to complete; %s has been terminating%s", Count(r.Objects, "deletion"), located(r.Oldest), r.Since.phrase())
}

// DeletionsWait means that deletions wait for something else than the collector.
type DeletionsWait struct {
	Objects int             `json:"objects"`
	Oldest  object.Identity `json:"oldest"`
	Since   Since           `json:"since"`   // of the oldest
	Because *Reason         `json:"because"` // of the oldest
}

func (r DeletionsWait) Message() string {
	text := fmt.Sprintf("%s; %s has been terminating%s", Count(r.Objects, "long deletion"), located(r.Oldest), r.Since.phrase())
	if why := r.Because.Message(); why != "" {
		text += ": it " + why
	}
	return text
}

// located returns an object with its namespace.
func located(i object.Identity) string {
	if i.Namespace == "" {
		return i.String()
	}
	return i.String() + " in " + i.Namespace
}

// What the checks together tell about the garbage collector.
var (
	CollectorDisabled = fixed("CollectorDisabled",
		"the API server runs without garbage collection, so it ignores foreground and orphan deletion")
	ManagerDown = fixed("ManagerDown", "no kube-controller-manager is running, so nothing collects garbage")
	// no check failed, and garbage was collected; a check may have warned
	CollectorWorks = either("CollectorWorks", "warned", "the garbage collector works, but see the warnings", "the garbage collector works")
	// no check failed, and there was no garbage to collect; a check may have warned
	CollectorUnverified = either("CollectorUnverified", "warned",
		"see the warnings; there was no garbage to collect, so this does not prove that the garbage collector works",
		"no problems found, but there was no garbage to collect, so this does not prove that the garbage collector works")

	// the collector does nothing although it has something to do; it may be unknown whether its manager runs
	CollectorIdle = either("CollectorIdle", "managerRuns",
		"the garbage collector does nothing, although kube-controller-manager is running: it is switched off, has not started yet, or waits for a type that it cannot list",
		"the garbage collector has not done its work, and this tool could not see whether kube-controller-manager runs")
	// nothing shows that the collector stands still, but it cannot do everything; that it runs is proven if garbage
	// was processed
	CollectorHindered = either("CollectorHindered", "proven",
		"the garbage collector is running, but cannot do everything", "the garbage collector may be running, but cannot do everything")
)
