package restore

import "github.com/kubectl-gc/kubectl-gc/pkg/reason"

// The labels that a Job's Pods are found by, which hold its UID.
var uidLabels = []string{"controller-uid", "batch.kubernetes.io/controller-uid"}

// cleanJob makes a Job that goes on where it can.
//
// The selector of a Job holds its UID, unless somebody chose another. A server
// that is to make a Job with the UID of one that is gone refuses it (422:
// validateGeneratedSelector), save with manualSelector, which means: take this
// one, and adopt what fits. So an unfinished Job keeps its selector that way,
// and with it its Pods. How many of these had succeeded was in its status, which
// is gone, so it counts from zero.
//
// A finished Job would run again. It has no Pods to adopt, so it gets a selector
// of its own, and is suspended.
func cleanJob(m manifest, _ *surroundings) []reason.Reason {
	end := finished(m.list("status", "conditions"))
	if end != "" {
		m.set(true, "spec", "suspend")
		if !m.flag("spec", "manualSelector") {
			m.drop("spec", "selector")
			for _, label := range uidLabels {
				m.drop("spec", "template", "metadata", "labels", label)
				m.drop("metadata", "labels", label)
			}
		}
		return []reason.Reason{reason.FinishedJobsSuspended{}}
	}
	if m.has("spec", "selector") {
		m.set(true, "spec", "manualSelector")
	}
	return []reason.Reason{reason.JobsRestartCount{}}
}

// finished is the type of the condition that ended a Job, or empty.
func finished(conditions []any) string {
	for _, c := range conditions {
		f, _ := c.(map[string]any)
		if of := manifest(f).text("type"); manifest(f).text("status") == "True" && (of == "Complete" || of == "Failed") {
			return of
		}
	}
	return ""
}
