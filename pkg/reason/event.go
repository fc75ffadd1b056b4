package reason

import "fmt"

// What happens during a run, besides the end of a step.
var _ = register(BackedUp{}, NothingBackedUp{}, WaitsForCollector{}, WaitsForKubelet{}, WaitsForWatchers{}, WaitsForTypes{})

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

// Events without parameters of their own.
type (
	NothingBackedUp   struct{ Failure } // no object could be backed up
	WaitsForCollector struct{}          // the run waits for the cluster's garbage collector to do the step
	WaitsForKubelet   struct{}          // the run waits for the kubelet to stop the Pod
	WaitsForWatchers  struct{}          // the run waits until controllers are likely to have seen the objects that this one adopts
	WaitsForTypes     struct{}          // the run waits until the API server serves the types that the object defines
)

func (r NothingBackedUp) Message() string { return "nothing could be backed up: " + r.Failure.Text() }
func (WaitsForCollector) Message() string { return "waits for the cluster's garbage collector" }
func (WaitsForKubelet) Message() string   { return "waits for the kubelet to stop it" }
func (WaitsForWatchers) Message() string {
	return "waits for controllers to see the objects that it adopts"
}
func (WaitsForTypes) Message() string { return "waits until the types that it defines are served" }
