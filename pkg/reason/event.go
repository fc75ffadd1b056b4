package reason

import "fmt"

// What happens during a run, besides the end of a step.
var (
	// the run waits for the cluster's garbage collector to do the step
	WaitsForCollector = fixed("WaitsForCollector", "waits for the cluster's garbage collector")
	// the run waits for the kubelet to stop the Pod
	WaitsForKubelet = fixed("WaitsForKubelet", "waits for the kubelet to stop it")
	// the run waits until controllers are likely to have seen the objects that this one adopts
	WaitsForWatchers = fixed("WaitsForWatchers", "waits for controllers to see the objects that it adopts")
	// the run waits until the API server serves the types that the object defines
	WaitsForTypes = fixed("WaitsForTypes", "waits until the types that it defines are served")
)

// NothingBackedUp means that no object could be backed up.
var NothingBackedUp = failed("NothingBackedUp", "nothing could be backed up: ")

// BackedUp means that the objects were backed up that the run deletes or changes.
type BackedUp struct {
	Saved  int  `json:"saved"`
	Total  int  `json:"total"`
	Repair bool `json:"repair,omitzero"` // the objects change, and are not deleted
}

func (r BackedUp) Message() string {
	if r.Repair {
		return fmt.Sprintf("backed up %d of %d objects to change", r.Saved, r.Total)
	}
	return fmt.Sprintf("backed up %d of %d objects to delete", r.Saved, r.Total)
}
