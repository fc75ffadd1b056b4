package reason

import (
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// What besides the garbage collector deletes an object, and when.
type (
	// DeletedWithLeader means that a controller deletes the object once another one is gone, though no owner reference
	// says so.
	DeletedWithLeader struct {
		Controller string          `json:"controller"`
		Leader     object.Identity `json:"leader"`
		Missing    bool            `json:"missing,omitzero"` // it does not exist
	}
	// DeletedInTime means that a controller deletes the object some time after it has finished, or after a time.
	DeletedInTime struct {
		Controller string    `json:"controller"`
		TTL        int64     `json:"ttl,omitzero"`   // seconds after it finishes
		After      time.Time `json:"after,omitzero"` // unknown as long as it has not finished
	}
	// DeletedAsOld means that a controller keeps only so many old dependents of a controller.
	DeletedAsOld struct {
		Controller string          `json:"controller"`
		Owner      object.Identity `json:"owner"`
		Keeps      int64           `json:"keeps"`
		Ended      string          `json:"ended,omitempty"` // Complete or Failed: it keeps so many Jobs that ended like this
	}
	// DeletedByRun means that a run of this program has deleted the object.
	DeletedByRun struct {
		Command string    `json:"command"`
		Time    time.Time `json:"time"`
		Backup  string    `json:"backup"` // the folder
	}
)

var (
	// the object is a finished Pod; the limit of this cluster is unknown
	OldestPodsDeleted = fixed("OldestPodsDeleted",
		"it has finished, and Pod garbage collection deletes the oldest finished Pods once the cluster has more than kube-controller-manager's --terminated-pod-gc-threshold (12,500 by default)")
	// the object has finished, and its controller stays and creates no other
	FinishedForGood = with[object.Identity]("FinishedForGood", "controller", "it has finished, so %s will not create another: its status and logs are lost")
	// the object is an old ReplicaSet, which its Deployment needs only to be rolled back to it
	RollbackLost = says2("RollbackLost", "controller revision", func(controller object.Identity, revision int64) string {
		return fmt.Sprintf("%s will not create it again, and cannot be rolled back to revision %d without it", controller, revision)
	})
)

func (r DeletedWithLeader) Message() string {
	if r.Missing {
		return fmt.Sprintf("%s deletes it, since %s does not exist", r.Controller, r.Leader)
	}
	return fmt.Sprintf("%s deletes it once %s is gone", r.Controller, r.Leader)
}

func (r DeletedByRun) Message() string {
	return fmt.Sprintf("%s %s deleted it at %s UTC", plugin.Command(), r.Command, r.Time.UTC().Format(time.DateTime))
}

func (r DeletedInTime) Message() string {
	if r.After.IsZero() {
		return fmt.Sprintf("%s deletes it %ds after it finishes", r.Controller, r.TTL)
	}
	return fmt.Sprintf("%s deletes it after %s UTC", r.Controller, r.After.UTC().Format(time.DateTime))
}

func (r DeletedAsOld) Message() string {
	kind, is, have := "newer ReplicaSet", "are old, too", "have"
	if r.Ended != "" {
		kind = "newer Job"
	}
	if r.Keeps == 1 {
		is, have = "is old, too", "has"
	}
	switch r.Ended {
	case "Complete":
		is = have + " succeeded"
	case "Failed":
		is = have + " failed"
	}
	return fmt.Sprintf("%s deletes it once %s of %s %s", r.Controller, Count(int(r.Keeps), kind), r.Owner, is)
}
