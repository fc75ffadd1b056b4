package reason

import (
	"fmt"
	"strings"
	"time"
)

// What a restoration does with an object, why it leaves one alone, and what is lost.
var (
	StillTerminating       = fixed("StillTerminating", "it is still being deleted: restore it once it is gone")
	StillExists            = fixed("StillExists", "it still exists")
	RestoredAndTerminating = fixed("RestoredAndTerminating", "it was restored before, and is being deleted again")
	NotDeletedByRun        = fixed("NotDeletedByRun", "the run did not delete it")
	NamespaceMissing       = fixed("NamespaceMissing", "its namespace does not exist: create that first")
	NamespaceTerminating   = fixed("NamespaceTerminating", "its namespace is being deleted: once that is gone, recreate it first")
	WasTerminating         = fixed("WasTerminating", "it was already being deleted when the run backed it up; to get it back, create it from its manifest in the backup")
	CreatedForService      = fixed("CreatedForService", "a controller creates it for its Service")
	// the holder of the Lease creates it again
	LeaseRenewed     = fixed("LeaseRenewed", "its holder recreates it")
	EventPast        = fixed("EventPast", "it reports a past event")
	CreatedByServer  = fixed("CreatedByServer", "the API server creates it for a type that it serves")
	MirrorPod        = fixed("MirrorPod", "its kubelet runs it from a file and recreates it")
	PodFinished      = fixed("PodFinished", "it had finished: if recreated, it would run again")
	ServerFieldsLost = fixed("ServerFieldsLost",
		"UIDs, creation times, status and field managers: recreated objects get new ones")
	TokensReplaced        = fixed("TokensReplaced", "service account tokens: their Secrets get new ones, and whoever uses an old one needs the new one")
	PodsRestart           = fixed("PodsRestart", "data that containers wrote outside of volumes: Pods start again, on any node that fits")
	DebugContainersLost   = fixed("DebugContainersLost", "debug containers that were added to a running Pod")
	FinishedJobsSuspended = fixed("FinishedJobsSuspended",
		"completion of finished Jobs, which was in their status: they are created suspended, or they would run again")
	JobsRestartCount = fixed("JobsRestartCount",
		"progress of unfinished Jobs, which was in their status: they count their Pods from zero")
	ServiceAddressesMayChange = fixed("ServiceAddressesMayChange",
		"clusterIP or nodePort of a Service, if it is taken now: the Service gets another")
	VolumeContentsNotRestored = fixed("VolumeContentsNotRestored",
		"data on PersistentVolumes: they are recreated, but their data exists only if their storage still does")
	ClaimsEmpty = fixed("ClaimsEmpty", "data on volumes that are gone: their PersistentVolumeClaims get new, empty ones")

	// the object is created from its backup, or gets references back
	Restored = says("Restored", "references,omitzero", func(references []RestoredReference) string {
		return first(mostNamed, references, "; ", "and %d more references", RestoredReference.phrase)
	})
	// it is unknown whether the object's type is served
	TypeUnverified     = says("TypeUnverified", "gap", func(gap Gap) string { return "this tool could not verify its type: " + listGaps([]Gap{gap}) })
	ManifestUnreadable = with[string]("ManifestUnreadable", "detail", "this tool cannot read its manifest: %s")
	// another object has the object's name
	NameTaken = says("NameTaken", "created", func(created time.Time) string {
		return "an object with this name exists already, created " + created.UTC().Format("2006-01-02 15:04:05")
	})
	ControllerCreatesPods = with[string]("ControllerCreatesPods", "controller", "its controller %s exists and creates the Pods that it needs")
	// a controller creates the object in every namespace; contents are lost if what was added to it does not come back
	ComesWithNamespace = either("ComesWithNamespace", "contentsLost,omitzero",
		"a controller creates it in every namespace; anything added to it is not restored", "a controller creates it in every namespace")
	// the scope of the object's type is not that of its manifest
	OtherScope = either("OtherScope", "namespaced,omitzero",
		"its manifest has no namespace, but its type needs one", "its manifest names a namespace, but objects of its type are in none")
	// references to an owner are not restored
	ReferencesLost        = says("ReferencesLost", "owner", func(o Owner) string { return fmt.Sprintf("references to %s, which %s", o, o.Predicate()) })
	ClaimVolumeUnverified = with[string]("ClaimVolumeUnverified", "volume", "it is unknown whether PersistentVolume/%s still exists: its claim names it, and waits forever if it does not")
	ClaimVolumeBound      = with[string]("ClaimVolumeBound", "volume", "PersistentVolume/%s still names the UID of its old claim, and the new claim waits until you remove spec.claimRef.uid from it")
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
		return fmt.Sprintf("without its reference to %s, which %s", r, r.Predicate())
	case r.Effect != "":
		return fmt.Sprintf("with its reference to %s, which %s (%s)", r, r.Predicate(), r.Effect.phrase())
	case r.Adopted:
		return fmt.Sprintf("adopted by %s", r)
	}
	return fmt.Sprintf("owned by %s, which %s", r, r.Predicate())
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
