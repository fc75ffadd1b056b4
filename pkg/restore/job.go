package restore

import "github.com/kubectl-gc/kubectl-gc/pkg/reason"

// cleanJob makes an unfinished Job continue, and suspends a finished one, which
// would run again.
//
// Unless a user chose it, the selector of a Job contains the Job's UID. The API
// server refuses to create a Job with another UID there (422,
// validateGeneratedSelector), unless manualSelector is set. So an unfinished Job
// keeps its selector with manualSelector, and adopts its Pods. It counts from zero,
// because the number of succeeded Pods was in its status.
//
// A finished Job has no Pods to adopt, so it gets a new selector.
func cleanJob(m manifest, _ *volumeContext) []reason.Reason {
	if hasFinished(m.list("status", "conditions")) {
		m.set(true, "spec", "suspend")
		if !m.flag("spec", "manualSelector") {
			m.drop("spec", "selector")
			for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
				m.drop("spec", "template", "metadata", "labels", label)
				m.drop("metadata", "labels", label)
			}
		}
		return []reason.Reason{reason.FinishedJobsSuspended}
	}
	if m.has("spec", "selector") {
		m.set(true, "spec", "manualSelector")
	}
	return []reason.Reason{reason.JobsRestartCount}
}

// hasFinished reports whether the conditions of a Job say that it has ended.
func hasFinished(conditions []any) bool {
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		t := manifest(fields).text("type")
		if manifest(fields).text("status") == "True" && (t == "Complete" || t == "Failed") {
			return true
		}
	}
	return false
}
