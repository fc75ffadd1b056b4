package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// creates has the kind that a controller of a kind creates. A CronJob follows its schedule, whatever is deleted.
// Controllers of other kinds may create anything.
var creates = map[string]string{
	"CronJob": "", "DaemonSet": "Pod", "Deployment": "ReplicaSet", "Job": "Pod", "ReplicaSet": "Pod", "ReplicationController": "Pod", "StatefulSet": "Pod",
}

// Replacement returns the controller of an object if it survives: it will probably create a replacement if
// somebody deletes the object; notRunning: unless this Pod has finished. verdict returns the verdict on a reference of the object.
func (m *Model) Replacement(o *object.Object, verdict func(i int) collector.Verdict) (by *object.Identity, notRunning bool) {
	i := slices.IndexFunc(o.Owners, object.Reference.Controls)
	if i < 0 || verdict(i) != collector.VerdictSolid {
		return nil, false
	}
	controller := m.Object(m.graph.Find(o.Owners[i].UID))
	if controller == nil || controller.Terminating() {
		return nil, false
	}
	if kind, known := creates[controller.Kind]; known && kind != o.Kind {
		return nil, false
	}
	// A StatefulSet and a DaemonSet delete a Pod that has failed, and create another one.
	own := controller.Kind == "StatefulSet" || controller.Kind == "DaemonSet"
	return &controller.Identity, o.Kind == "Pod" && !o.Running && !o.Terminating() && !own
}
