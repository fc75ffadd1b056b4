package object

import (
	"encoding/json"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Lifecycle is what an object says about its end outside of the metadata that a scan keeps: when a controller
// besides the garbage collector deletes it, and what its own controller does without it.
type Lifecycle struct {
	With     Identity   `json:"with,omitzero"`     // what it is deleted with; the UID is empty if the object names none
	Ended    string     `json:"ended,omitempty"`   // how something that runs to an end has ended, such as Complete; empty: it has not
	TTL      *int64     `json:"ttl,omitempty"`     // seconds from its end to its deletion
	Expires  *time.Time `json:"expires,omitempty"` // when it is deleted; nil if it has no such time, or not yet
	Revision int64      `json:"revision,omitzero"` // of a Deployment or a ReplicaSet
	// Keeps is how many old dependents a controller keeps, by how they have ended; "" are old revisions.
	Keeps map[string]int64 `json:"keeps,omitempty"`
}

// decidingFields has the fields that decide, under their names in JSON.
type decidingFields struct {
	Type     string
	Metadata struct{ Annotations map[string]string }
	Data     struct{ Expiration []byte } // of a bootstrap token
	Spec     struct {
		NodeName                                                                 string
		TTLSecondsAfterFinished                                                  *int64
		RevisionHistoryLimit, SuccessfulJobsHistoryLimit, FailedJobsHistoryLimit *int64
		PersistentVolumeReclaimPolicy                                            string
		ClaimRef                                                                 struct{ Namespace, Name, UID string }
		ParentRef                                                                struct{ Resource, Namespace, Name string }
	}
	Status struct {
		Phase      string
		Conditions []struct {
			Type, Status       string
			LastTransitionTime time.Time
		}
		CompletionTime string // of a TaskRun or PipelineRun
	}
}

// lifecycles reads the Lifecycle of the kinds that have one.
var lifecycles = map[schema.GroupKind]func(i Identity, w *decidingFields, l *Lifecycle){
	{Kind: "Secret"}: func(i Identity, w *decidingFields, l *Lifecycle) {
		switch at, err := time.Parse(time.RFC3339, string(w.Data.Expiration)); {
		case w.Type == "kubernetes.io/service-account-token":
			l.With = AccountOfToken(i.Namespace, w.Metadata.Annotations)
		case w.Type == "bootstrap.kubernetes.io/token" && i.Namespace == "kube-system" && err == nil:
			l.Expires = &at
		}
	},
	Pod: func(_ Identity, w *decidingFields, l *Lifecycle) {
		l.With = Identity{APIVersion: "v1", Kind: "Node", Name: w.Spec.NodeName}
		if w.Status.Phase == "Succeeded" || w.Status.Phase == "Failed" {
			l.Ended = w.Status.Phase
		}
	},
	{Group: "batch", Kind: "Job"}: func(_ Identity, w *decidingFields, l *Lifecycle) {
		l.TTL = w.Spec.TTLSecondsAfterFinished
		for _, c := range w.Status.Conditions {
			if c.Status != "True" || c.Type != "Complete" && c.Type != "Failed" {
				continue
			}
			if l.Ended = c.Type; l.TTL != nil && !c.LastTransitionTime.IsZero() {
				l.Expires = new(c.LastTransitionTime.Add(time.Duration(*l.TTL) * time.Second))
			}
		}
	},
	{Group: "batch", Kind: "CronJob"}: func(_ Identity, w *decidingFields, l *Lifecycle) {
		l.keeps("Complete", w.Spec.SuccessfulJobsHistoryLimit)
		l.keeps("Failed", w.Spec.FailedJobsHistoryLimit)
	},
	{Group: "apps", Kind: "Deployment"}: func(_ Identity, w *decidingFields, l *Lifecycle) {
		l.Revision = w.revision()
		l.keeps("", w.Spec.RevisionHistoryLimit)
	},
	{Group: "apps", Kind: "ReplicaSet"}: func(_ Identity, w *decidingFields, l *Lifecycle) { l.Revision = w.revision() },
	Volume: func(_ Identity, w *decidingFields, l *Lifecycle) {
		if w.Spec.PersistentVolumeReclaimPolicy == "Delete" && (w.Status.Phase == "Bound" || w.Status.Phase == "Released") {
			claim := w.Spec.ClaimRef
			l.With = Identity{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: types.UID(claim.UID)}
		}
	},
	{Group: "networking.k8s.io", Kind: "IPAddress"}: func(_ Identity, w *decidingFields, l *Lifecycle) {
		if parent := w.Spec.ParentRef; parent.Resource == "services" {
			l.With = Identity{APIVersion: "v1", Kind: "Service", Namespace: parent.Namespace, Name: parent.Name}
		}
	},
	{Group: "argoproj.io", Kind: "Workflow"}: func(_ Identity, w *decidingFields, l *Lifecycle) {
		if phase := w.Status.Phase; phase == "Succeeded" || phase == "Failed" || phase == "Error" {
			l.Ended = phase
		}
	},
	{Group: "tekton.dev", Kind: "TaskRun"}:     func(_ Identity, w *decidingFields, l *Lifecycle) { l.Ended = w.Status.CompletionTime },
	{Group: "tekton.dev", Kind: "PipelineRun"}: func(_ Identity, w *decidingFields, l *Lifecycle) { l.Ended = w.Status.CompletionTime },
}

// HasLifecycle reports whether whole objects of the kind have a Lifecycle.
func (i Identity) HasLifecycle() bool { return lifecycles[i.GroupVersionKind().GroupKind()] != nil }

// LifecycleOf returns the Lifecycle of an object from its JSON, and nil if its kind has none or it is malformed.
func LifecycleOf(i Identity, raw json.RawMessage) *Lifecycle {
	var w decidingFields
	if !i.HasLifecycle() || json.Unmarshal(raw, &w) != nil {
		return nil
	}
	l := &Lifecycle{}
	lifecycles[i.GroupVersionKind().GroupKind()](i, &w, l)
	return l
}

func (l *Lifecycle) keeps(ended string, limit *int64) {
	if l.Keeps == nil {
		l.Keeps = map[string]int64{}
	}
	if limit != nil {
		l.Keeps[ended] = *limit
	}
}

// revision returns the number that the Deployment controller gave a revision; 0 if it gave none.
func (w *decidingFields) revision() int64 {
	n, _ := strconv.ParseInt(w.Metadata.Annotations["deployment.kubernetes.io/revision"], 10, 64)
	return n
}

// AccountOfToken returns the ServiceAccount of a token Secret in that namespace.
func AccountOfToken(namespace string, annotations map[string]string) Identity {
	const prefix = "kubernetes.io/service-account."
	return Identity{
		APIVersion: "v1", Kind: "ServiceAccount", Namespace: namespace, Name: annotations[prefix+"name"], UID: types.UID(annotations[prefix+"uid"]),
	}
}
