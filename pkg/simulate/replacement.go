package simulate

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// creates has the kind that a controller of a kind creates. CronJobs and CronWorkflows follow their schedule,
// whatever is deleted. Controllers of other kinds may create anything.
var creates = map[string]string{
	"CronJob": "", "CronWorkflow": "",
	"DaemonSet": "Pod", "Deployment": "ReplicaSet", "Job": "Pod", "ReplicaSet": "Pod", "ReplicationController": "Pod", "StatefulSet": "Pod",
}

// Replacement returns the controller of an object if it survives: it will probably create a replacement if
// somebody deletes the object; notRunning: unless this Pod has finished. If it is known not to create one, lost is
// what nobody brings back. verdict returns the verdict on a reference of the object.
func (m *Model) Replacement(o *object.Object, verdict func(i int) collector.Verdict) (by *object.Identity, notRunning bool, lost *reason.Reason) {
	i := slices.IndexFunc(o.Owners, object.Reference.Controls)
	if i < 0 || verdict(i) != collector.VerdictSolid {
		return nil, false, nil
	}
	controller := m.controller(o)
	if controller == nil || controller.Terminating() {
		return nil, false, nil
	}
	l, of := o.Lifecycle, controller.Lifecycle
	// A StatefulSet and a DaemonSet delete a Pod that has failed, and create another one.
	own := controller.Kind == "StatefulSet" || controller.Kind == "DaemonSet"
	switch kind, known := creates[controller.Kind]; {
	case known && kind != o.Kind:
		return nil, false, nil
	case l != nil && l.Ended != "" && !own:
		return nil, false, reason.FinishedForGood(controller.Identity)
	case l != nil && of != nil && l.Revision > 0 && l.Revision < of.Revision: // deployment/sync.go, getNewReplicaSet
		return nil, false, reason.RollbackLost(controller.Identity, l.Revision)
	case of != nil && of.Ended != "", l == nil && o.HasLifecycle() && !o.IsPod():
		return nil, false, nil
	}
	return &controller.Identity, o.Kind == "Pod" && l == nil && !o.Running && !o.Terminating() && !own, nil
}
