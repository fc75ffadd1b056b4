package restore

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

const mirrored = "kubernetes.io/config.mirror"

// leavePod names the Pods that would do again what is done, and those that only
// show what a kubelet runs by itself.
func leavePod(m manifest) reason.Reason {
	switch phase := m.text("status", "phase"); {
	case m.annotation(mirrored) != "":
		return reason.MirrorPod{}
	case phase == "Succeeded" || phase == "Failed":
		return reason.PodFinished{}
	}
	return nil
}

// cleanPod has a Pod scheduled anew. Its priority follows from its class, and the
// server refuses any other. A Pod with the finalizer of a Job that does not own
// it would lose that to the Job controller, which gives it to what it adopts.
func cleanPod(m manifest, _ *surroundings) []reason.Reason {
	unprotected(m)
	m.drop("spec", "nodeName")
	m.drop("spec", "priority")
	lost := []reason.Reason{reason.PodsRestart{}}
	if len(m.list("spec", "ephemeralContainers")) > 0 {
		m.drop("spec", "ephemeralContainers")
		lost = append(lost, reason.DebugContainersLost{})
	}
	return lost
}

// podNeeds are what admission looks for: it refuses a Pod without.
func podNeeds(m manifest) []need {
	var out []need
	if account := m.text("spec", "serviceAccountName"); account != "" {
		out = append(out, need{schema.GroupKind{Kind: "ServiceAccount"}, m.text("metadata", "namespace"), account})
	}
	if class := m.text("spec", "priorityClassName"); class != "" {
		out = append(out, need{schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, "", class})
	}
	if class := m.text("spec", "runtimeClassName"); class != "" {
		out = append(out, need{schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}, "", class})
	}
	return out
}
