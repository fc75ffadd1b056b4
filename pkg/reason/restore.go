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

// Effect says what a reference does that leads to no owner and is restored all the same.
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
		return fmt.Sprintf("without its reference to %s, which %s", r, r.Predicate())
	case r.Effect != "":
		return fmt.Sprintf("with its reference to %s, which %s (%s)", r, r.Predicate(), r.Effect.phrase())
	case r.Adopted:
		return fmt.Sprintf("adopted by %s", r)
	}
	return fmt.Sprintf("owned by %s, which %s", r, r.Predicate())
}

// Restored means that the object is created from its backup, or gets references back.
type Restored struct {
	References []RestoredReference `json:"references,omitempty"`
}

// Message implements Reason.
func (r Restored) Message() string {
	var said []string
	for i, of := range r.References {
		if i == mostNamed {
			said = append(said, fmt.Sprintf("and %d more references", len(r.References)-mostNamed))
			break
		}
		said = append(said, of.phrase())
	}
	return strings.Join(said, "; ")
}

// StillTerminating means that the object is still being deleted.
type StillTerminating struct{}

// Message implements Reason.
func (StillTerminating) Message() string {
	return "it is still being deleted: restore it once it is gone"
}

// StillExists means that the very object exists.
type StillExists struct{}

// Message implements Reason.
func (StillExists) Message() string { return "it still exists" }

// ManifestUnreadable means that the object's manifest in the backup cannot be read.
type ManifestUnreadable struct {
	Detail string `json:"detail"`
}

// Message implements Reason.
func (r ManifestUnreadable) Message() string { return "its manifest cannot be read: " + r.Detail }

// RestoredAndTerminating means that the object was restored before, and is being deleted
// again.
type RestoredAndTerminating struct{}

// Message implements Reason.
func (RestoredAndTerminating) Message() string {
	return "it was restored before, and is being deleted again"
}

// NameTaken means that another object has the object's name.
type NameTaken struct {
	Created time.Time `json:"created"` // when that one was created
}

// Message implements Reason.
func (r NameTaken) Message() string {
	return "another object of that name exists, created " + r.Created.UTC().Format("2006-01-02 15:04:05")
}

// NotDeletedByRun means that the run did not delete the object.
type NotDeletedByRun struct{}

// Message implements Reason.
func (NotDeletedByRun) Message() string { return "the run did not delete it" }

// TypeUnverified means that it is unknown whether the object's type is served.
type TypeUnverified struct {
	Gap Gap `json:"gap"`
}

// Message implements Reason.
func (r TypeUnverified) Message() string {
	return fmt.Sprintf("its type could not be verified: %s (%s)", r.Gap, r.Gap.ErrorClass)
}

// TypeNotServed means that the server no longer serves the object's type in that version.
type TypeNotServed struct {
	APIVersion     string   `json:"apiVersion"`
	Kind           string   `json:"kind"`
	ServedVersions []string `json:"servedVersions,omitempty"` // of the same kind
}

// Message implements Reason.
func (r TypeNotServed) Message() string {
	text := fmt.Sprintf("%s %s is no longer served", r.APIVersion, r.Kind)
	if len(r.ServedVersions) > 0 {
		text += ", only " + strings.Join(r.ServedVersions, ", ")
	}
	return text
}

// NamespaceMissing means that the object's namespace does not exist.
type NamespaceMissing struct{}

// Message implements Reason.
func (NamespaceMissing) Message() string { return "its namespace does not exist: create that first" }

// NamespaceTerminating means that the object's namespace is being deleted.
type NamespaceTerminating struct{}

// Message implements Reason.
func (NamespaceTerminating) Message() string {
	return "its namespace is being deleted: once that is gone, recreate it first"
}

// WasTerminating means that the object was being deleted already when it was backed up.
type WasTerminating struct{}

// Message implements Reason.
func (WasTerminating) Message() string { return "it was already being deleted when it was backed up" }

// ControllerCreatesPods means that the Pod's controller exists and creates the Pods that
// it needs.
type ControllerCreatesPods struct {
	Controller string `json:"controller"` // Kind/name
}

// Message implements Reason.
func (r ControllerCreatesPods) Message() string {
	return fmt.Sprintf("its controller %s exists and creates the Pods that it needs", r.Controller)
}

// ComesWithNamespace means that a controller creates the object in every namespace.
type ComesWithNamespace struct {
	ContentsLost bool `json:"contentsLost,omitzero"` // what was added to it does not come back
}

// Message implements Reason.
func (r ComesWithNamespace) Message() string {
	if r.ContentsLost {
		return "a controller creates it in every namespace; what was added to it is not restored"
	}
	return "a controller creates it in every namespace"
}

// CreatedForService means that a controller creates the object for its Service.
type CreatedForService struct{}

// Message implements Reason.
func (CreatedForService) Message() string { return "a controller creates it for its Service" }

// LeaseRenewed means that the holder of the Lease creates it again.
type LeaseRenewed struct{}

// Message implements Reason.
func (LeaseRenewed) Message() string { return "its holder recreates it" }

// EventPast means that the object is an Event, which reports what is over.
type EventPast struct{}

// Message implements Reason.
func (EventPast) Message() string { return "it reports a past event" }

// CreatedByServer means that the API server creates the object for what it serves.
type CreatedByServer struct{}

// Message implements Reason.
func (CreatedByServer) Message() string { return "the API server creates it for a type that it serves" }

// MirrorPod means that the Pod only shows what a kubelet runs from a file.
type MirrorPod struct{}

// Message implements Reason.
func (MirrorPod) Message() string {
	return "its kubelet runs it from a file and recreates it"
}

// PodFinished means that the Pod had finished and would run again.
type PodFinished struct{}

// Message implements Reason.
func (PodFinished) Message() string { return "it had finished: if recreated, it would run again" }

// ServerFieldsLost means that the API server sets new values in fields of what it creates.
type ServerFieldsLost struct{}

// Message implements Reason.
func (ServerFieldsLost) Message() string {
	return "UIDs, creation times, status and field managers: recreated objects get new ones"
}

// ReferencesLost means that references to an owner are not restored.
type ReferencesLost struct {
	Owner Owner `json:"owner"`
}

// Message implements Reason.
func (r ReferencesLost) Message() string {
	return fmt.Sprintf("references to %s, which %s", r.Owner, r.Owner.Predicate())
}

// TokensReplaced means that ServiceAccounts get new tokens.
type TokensReplaced struct{}

// Message implements Reason.
func (TokensReplaced) Message() string {
	return "service account tokens: their Secrets get new ones"
}

// PodsRestart means that Pods start again from their images, on any node.
type PodsRestart struct{}

// Message implements Reason.
func (PodsRestart) Message() string {
	return "data that containers wrote outside of volumes: Pods start again, on any node that fits"
}

// DebugContainersLost means that ephemeral containers do not come back.
type DebugContainersLost struct{}

// Message implements Reason.
func (DebugContainersLost) Message() string {
	return "debug containers that were added to a running Pod"
}

// FinishedJobsSuspended means that Jobs that had finished are created suspended.
type FinishedJobsSuspended struct{}

// Message implements Reason.
func (FinishedJobsSuspended) Message() string {
	return "completion of finished Jobs, which was in their status: they are created suspended, or they would run again"
}

// JobsRestartCount means that Jobs that had not finished count their Pods from zero.
type JobsRestartCount struct{}

// Message implements Reason.
func (JobsRestartCount) Message() string {
	return "progress of unfinished Jobs, which was in their status: they count their Pods from zero"
}

// ServiceAddressesMayChange means that a Service whose address is taken gets another.
type ServiceAddressesMayChange struct{}

// Message implements Reason.
func (ServiceAddressesMayChange) Message() string {
	return "clusterIP or nodePort of a Service, if it is taken now: the Service gets another"
}

// VolumeContentsNotRestored means that a PersistentVolume is created, and not what was on it.
type VolumeContentsNotRestored struct{}

// Message implements Reason.
func (VolumeContentsNotRestored) Message() string {
	return "data on PersistentVolumes: they are recreated, but their data exists only if their storage still does"
}

// ClaimVolumeUnverified means that it is unknown whether a claim's volume exists.
type ClaimVolumeUnverified struct {
	Volume string `json:"volume"`
}

// Message implements Reason.
func (r ClaimVolumeUnverified) Message() string {
	return fmt.Sprintf("it is unknown whether PersistentVolume/%s still exists: its claim names it, and waits forever if it does not", r.Volume)
}

// ClaimVolumeBound means that a claim's volume still names the UID of the old claim.
type ClaimVolumeBound struct {
	Volume string `json:"volume"`
}

// Message implements Reason.
func (r ClaimVolumeBound) Message() string {
	return fmt.Sprintf("PersistentVolume/%s still names the UID of its old claim, and the new claim waits until you clear it: kubectl patch pv %s --type=json -p '[{\"op\":\"remove\",\"path\":\"/spec/claimRef/uid\"}]'", r.Volume, r.Volume)
}

// ClaimsEmpty means that claims of volumes that are gone get new, empty ones.
type ClaimsEmpty struct{}

// Message implements Reason.
func (ClaimsEmpty) Message() string {
	return "data on volumes that are gone: their PersistentVolumeClaims get new, empty ones"
}
