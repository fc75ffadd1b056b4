package restore

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// skipPod skips Pods that have finished, which would run again, and mirror Pods,
// which only show what a kubelet runs from a file.
func skipPod(m manifest) reason.Reason {
	switch phase := m.text("status", "phase"); {
	case m.annotation("kubernetes.io/config.mirror") != "":
		return reason.MirrorPod
	case phase == "Succeeded" || phase == "Failed":
		return reason.PodFinished
	}
	return nil
}

// cleanPod makes the scheduler place the Pod again. The priority follows from the
// priority class, and the API server refuses any other. The Job finalizer is
// removed: the Job controller adds it to the Pods that it adopts.
func cleanPod(m manifest, _ *volumeContext) []reason.Reason {
	removeProtection(m)
	m.drop("spec", "nodeName")
	m.drop("spec", "priority")
	lost := []reason.Reason{reason.PodsRestart}
	if len(m.list("spec", "ephemeralContainers")) > 0 {
		m.drop("spec", "ephemeralContainers")
		lost = append(lost, reason.DebugContainersLost)
	}
	return lost
}

// podPrerequisites returns the objects without which admission refuses the Pod.
func podPrerequisites(m manifest) []prerequisite {
	var out []prerequisite
	if account := m.text("spec", "serviceAccountName"); account != "" {
		out = append(out, prerequisite{serviceAccount, m.text("metadata", "namespace"), account})
	}
	if class := m.text("spec", "priorityClassName"); class != "" {
		out = append(out, prerequisite{schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, "", class})
	}
	if class := m.text("spec", "runtimeClassName"); class != "" {
		out = append(out, prerequisite{schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}, "", class})
	}
	return out
}
