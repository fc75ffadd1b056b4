package restore

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
func cleanJob(m manifest, _ *surroundings) []string {
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
		return []string{"Jobs that had finished are made suspended, since they would run again: that they finished was in their status"}
	}
	if m.has("spec", "selector") {
		m.set(true, "spec", "manualSelector")
	}
	return []string{"Jobs that had not finished count from zero: which of their Pods had succeeded was in their status"}
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
