package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// serverSet are the metadata fields that the API server sets, and refuses or
// ignores in a create request.
var serverSet = []string{
	"uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds",
	"selfLink", "managedFields",
}

// clean removes from a manifest what belongs to the deleted object, and returns
// what is lost. Owner references stay.
//
// Finalizers of other controllers stay, because those expect to be asked before
// the object is deleted. The garbage collector's own finalizers are removed.
func clean(m manifest, k kind, v *volumeContext) []reason.Reason {
	for _, field := range serverSet {
		m.drop("metadata", field)
	}
	m.removeStrings([]string{object.ForegroundFinalizer, object.OrphanFinalizer}, "metadata", "finalizers")
	var lost []reason.Reason
	if k.clean != nil {
		lost = k.clean(m, v) // may read the status
	}
	// The status of a custom resource stays: if it is a subresource, the API server
	// drops it; if not, a user wrote it.
	if isBuiltInGroup(schema.FromAPIVersionAndKind(m.text("apiVersion"), m.text("kind")).Group) {
		m.drop("status")
	}
	return lost
}

// removeProtection removes the finalizers that the API server or a controller of
// Kubernetes adds by itself.
func removeProtection(m manifest) {
	m.removeStrings([]string{"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "batch.kubernetes.io/job-tracking"}, "metadata", "finalizers")
}

// cleanNamespace leaves the finalizers in the spec to the API server.
func cleanNamespace(m manifest, _ *volumeContext) []reason.Reason {
	m.drop("spec", "finalizers")
	return nil
}

// cleanPod makes the scheduler place the Pod again. The priority follows from the
// priority class, and the API server refuses any other. The Job finalizer is
// removed: the Job controller adds it to the Pods that it adopts.
func cleanPod(m manifest, _ *volumeContext) []reason.Reason {
	removeProtection(m)
	m.drop("spec", "nodeName")
	m.drop("spec", "priority")
	lost := []reason.Reason{reason.PodsRestart{}}
	if len(m.list("spec", "ephemeralContainers")) > 0 {
		m.drop("spec", "ephemeralContainers")
		lost = append(lost, reason.DebugContainersLost{})
	}
	return lost
}

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
		return []reason.Reason{reason.FinishedJobsSuspended{}}
	}
	if m.has("spec", "selector") {
		m.set(true, "spec", "manualSelector")
	}
	return []reason.Reason{reason.JobsRestartCount{}}
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

func isToken(m manifest) bool { return m.text("type") == "kubernetes.io/service-account-token" }

// cleanToken makes the token controller issue a new token. It would delete a Secret
// with the UID of a service account that does not exist.
func cleanToken(m manifest, _ *volumeContext) []reason.Reason {
	if !isToken(m) {
		return nil
	}
	m.drop("metadata", "annotations", "kubernetes.io/service-account.uid")
	for _, key := range []string{"token", "ca.crt", "namespace"} {
		m.drop("data", key)
	}
	return []reason.Reason{reason.TokensReplaced{}}
}

// isBuiltInGroup reports whether Kubernetes itself defines an API group. The suffix
// k8s.io does not tell: SIGs use it for CustomResourceDefinitions, too.
func isBuiltInGroup(group string) bool {
	return slices.Contains([]string{
		"", "apps", "batch", "autoscaling", "policy", "extensions",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
		"authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
		"flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io",
		"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
	}, group)
}
