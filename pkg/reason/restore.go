package reason

import (
	"fmt"
	"strings"
	"time"
)

// What a restoration does with an object, why it leaves one alone, and what is lost.
var _ = register(
	Restored{}, StillTerminating{}, StillExists{}, ManifestUnreadable{}, RestoredAndTerminating{}, NameTaken{}, NotDeletedByRun{}, TypeUnverified{},
	TypeNotServed{}, NamespaceMissing{}, NamespaceTerminating{}, WasTerminating{}, ControllerCreatesPods{}, ComesWithNamespace{}, CreatedForService{},
	LeaseRenewed{}, EventPast{}, CreatedByServer{}, MirrorPod{}, PodFinished{},
	ServerFieldsLost{}, ReferencesLost{}, TokensReplaced{}, PodsRestart{}, DebugContainersLost{}, FinishedJobsSuspended{}, JobsRestartCount{},
	ServiceAddressesMayChange{}, VolumeContentsNotRestored{}, ClaimVolumeUnverified{}, ClaimVolumeBound{}, ClaimsEmpty{},
)

// Effect is what the collector does about a restored reference whose owner does not exist.
type Effect string

// The effects.
const (
	EffectDelete Effect = "delete"
	EffectUnlink Effect = "unlink"
	EffectOther  Effect = "unknown"
)

func (e Effect) phrase() string {
	switch e {
	case EffectDelete:
		return "the garbage collector will delete the object because of it"
	case EffectUnlink:
		return "the garbage collector will remove it again"
	case EffectOther:
	}
	return "it is unknown what the garbage collector does about it"
}

// RestoredReference is an owner reference of an object that is restored.
type RestoredReference struct {
	Owner
	Dropped bool   `json:"dropped,omitzero"` // it is left out
	Adopted bool   `json:"adopted,omitzero"` // the owner is a controller that will adopt the object
	Effect  Effect `json:"effect,omitempty"` // of one that is restored although it leads to no owner
}

func (r RestoredReference) phrase() string {
	switch {
	case r.Dropped:
		return fmt.Sprintf("without its reference to %s, which %s", r, r.predicate())
	case r.Effect != "":
		return fmt.Sprintf("with its reference to %s, which %s (%s)", r, r.predicate(), r.Effect.phrase())
	case r.Adopted:
		return fmt.Sprintf("adopted by %s", r)
	}
	return fmt.Sprintf("owned by %s, which %s", r, r.predicate())
}

// Restored means that the object is created from its backup, or gets references back.
type Restored struct {
	References []RestoredReference `json:"references,omitempty"`
}

func (r Restored) Message() string {
	return first(mostNamed, len(r.References), "; ", "and %d more references", func(i int) string { return r.References[i].phrase() })
}

// Why an object is left alone.
type (
	StillTerminating       struct{}     // the object is still being deleted
	StillExists            struct{}     // the very object exists
	RestoredAndTerminating struct{}     // the object was restored before, and is being deleted again
	NotDeletedByRun        struct{}     // the run did not delete the object
	TypeUnverified         gapParameter // it is unknown whether the object's type is served
	NamespaceMissing       struct{}     // the object's namespace does not exist
	NamespaceTerminating   struct{}     // the object's namespace is being deleted
	WasTerminating         struct{}     // the object was being deleted already when it was backed up
	CreatedForService      struct{}     // a controller creates the object for its Service
	LeaseRenewed           struct{}     // the holder of the Lease creates it again
	EventPast              struct{}     // the object is an Event, which reports what is over
	CreatedByServer        struct{}     // the API server creates the object for what it serves
	MirrorPod              struct{}     // the Pod only shows what a kubelet runs from a file
	PodFinished            struct{}     // the Pod had finished and would run again
)

func (StillTerminating) Message() string {
	return "it is still being deleted: restore it once it is gone"
}
func (StillExists) Message() string { return "it still exists" }
func (RestoredAndTerminating) Message() string {
	return "it was restored before, and is being deleted again"
}
func (NotDeletedByRun) Message() string { return "the run did not delete it" }
func (r TypeUnverified) Message() string {
	return fmt.Sprintf("its type could not be verified: %s (%s)", r.Gap, r.Gap.ErrorClass)
}

func (NamespaceMissing) Message() string { return "its namespace does not exist: create that first" }

func (NamespaceTerminating) Message() string {
	return "its namespace is being deleted: once that is gone, recreate it first"
}

func (WasTerminating) Message() string    { return "it was already being deleted when it was backed up" }
func (CreatedForService) Message() string { return "a controller creates it for its Service" }
func (LeaseRenewed) Message() string      { return "its holder recreates it" }
func (EventPast) Message() string         { return "it reports a past event" }
func (CreatedByServer) Message() string   { return "the API server creates it for a type that it serves" }

func (MirrorPod) Message() string {
	return "its kubelet runs it from a file and recreates it"
}
func (PodFinished) Message() string { return "it had finished: if recreated, it would run again" }

// ManifestUnreadable means that the object's manifest in the backup cannot be read.
type ManifestUnreadable struct {
	Detail string `json:"detail"`
}

func (r ManifestUnreadable) Message() string { return "its manifest cannot be read: " + r.Detail }

// NameTaken means that another object has the object's name.
type NameTaken struct {
	Created time.Time `json:"created"` // when that one was created
}

func (r NameTaken) Message() string {
	return "another object of that name exists, created " + r.Created.UTC().Format("2006-01-02 15:04:05")
}

// TypeNotServed means that the server no longer serves the object's type in that version.
type TypeNotServed struct {
	APIVersion     string   `json:"apiVersion"`
	Kind           string   `json:"kind"`
	ServedVersions []string `json:"servedVersions,omitempty"` // of the same kind
}

func (r TypeNotServed) Message() string {
	text := fmt.Sprintf("%s %s is no longer served", r.APIVersion, r.Kind)
	if len(r.ServedVersions) > 0 {
		text += ", only " + strings.Join(r.ServedVersions, ", ")
	}
	return text
}

// ControllerCreatesPods means that the Pod's controller exists and creates the Pods that it needs.
type ControllerCreatesPods struct {
	Controller string `json:"controller"` // Kind/name
}

func (r ControllerCreatesPods) Message() string {
	return fmt.Sprintf("its controller %s exists and creates the Pods that it needs", r.Controller)
}

// ComesWithNamespace means that a controller creates the object in every namespace.
type ComesWithNamespace struct {
	ContentsLost bool `json:"contentsLost,omitzero"` // what was added to it does not come back
}

func (r ComesWithNamespace) Message() string {
	if r.ContentsLost {
		return "a controller creates it in every namespace; what was added to it is not restored"
	}
	return "a controller creates it in every namespace"
}

// What is lost.
type (
	ServerFieldsLost          struct{}        // the API server sets new values in fields of what it creates
	ReferencesLost            ownerParameter  // references to an owner are not restored
	TokensReplaced            struct{}        // ServiceAccounts get new tokens
	PodsRestart               struct{}        // Pods start again from their images, on any node
	DebugContainersLost       struct{}        // ephemeral containers do not come back
	FinishedJobsSuspended     struct{}        // Jobs that had finished are created suspended
	JobsRestartCount          struct{}        // Jobs that had not finished count their Pods from zero
	ServiceAddressesMayChange struct{}        // a Service whose address is taken gets another
	VolumeContentsNotRestored struct{}        // a PersistentVolume is created, and not what was on it
	ClaimVolumeUnverified     volumeParameter // it is unknown whether a claim's volume exists
	ClaimVolumeBound          volumeParameter // a claim's volume still names the UID of the old claim
	ClaimsEmpty               struct{}        // claims of volumes that are gone get new, empty ones
)

func (ServerFieldsLost) Message() string {
	return "UIDs, creation times, status and field managers: recreated objects get new ones"
}

func (r ReferencesLost) Message() string {
	return fmt.Sprintf("references to %s, which %s", r.Owner, r.Owner.predicate())
}

func (TokensReplaced) Message() string {
	return "service account tokens: their Secrets get new ones"
}

func (PodsRestart) Message() string {
	return "data that containers wrote outside of volumes: Pods start again, on any node that fits"
}

func (DebugContainersLost) Message() string {
	return "debug containers that were added to a running Pod"
}

func (FinishedJobsSuspended) Message() string {
	return "completion of finished Jobs, which was in their status: they are created suspended, or they would run again"
}

func (JobsRestartCount) Message() string {
	return "progress of unfinished Jobs, which was in their status: they count their Pods from zero"
}

func (ServiceAddressesMayChange) Message() string {
	return "clusterIP or nodePort of a Service, if it is taken now: the Service gets another"
}

func (VolumeContentsNotRestored) Message() string {
	return "data on PersistentVolumes: they are recreated, but their data exists only if their storage still does"
}

func (r ClaimVolumeUnverified) Message() string {
	return fmt.Sprintf("it is unknown whether PersistentVolume/%s still exists: its claim names it, and waits forever if it does not", r.Volume)
}

func (r ClaimVolumeBound) Message() string {
	return fmt.Sprintf("PersistentVolume/%s still names the UID of its old claim, and the new claim waits until you clear it: kubectl patch pv %s --type=json -p '[{\"op\":\"remove\",\"path\":\"/spec/claimRef/uid\"}]'", r.Volume, r.Volume)
}

func (ClaimsEmpty) Message() string {
	return "data on volumes that are gone: their PersistentVolumeClaims get new, empty ones"
}
