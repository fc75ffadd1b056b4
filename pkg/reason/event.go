package reason

import "fmt"

// What happens during a run, besides the end of a step.
var (
	WaitsForCollector = fixed("WaitsForCollector", "waits for the cluster's garbage collector")
	WaitsForKubelet   = fixed("WaitsForKubelet", "waits for the kubelet to stop it")
	WaitsForWatchers  = fixed("WaitsForWatchers", "waits for controllers to see the objects that it adopts")
	WaitsForTypes     = fixed("WaitsForTypes", "waits until the API server serves its types")
)

// NothingBackedUp means that no object could be backed up.
var NothingBackedUp = failed("NothingBackedUp", "could not back up anything: ")

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
