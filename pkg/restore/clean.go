package restore

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
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
func clean(m manifest, k kindRules, v *volumeContext) []*reason.Reason {
	for _, field := range serverSet {
		m.drop("metadata", field)
	}
	m.removeStrings([]string{object.ForegroundFinalizer, object.OrphanFinalizer}, "metadata", "finalizers")
	var lost []*reason.Reason
	if k.clean != nil {
		lost = k.clean(m, v) // may read the status
	}
	// The status of a custom resource stays: if it is a subresource, the API server
	// drops it; if not, a user wrote it.
	if snapshot.BuiltInGroup(schema.FromAPIVersionAndKind(m.text("apiVersion"), m.text("kind")).Group) {
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
func cleanNamespace(m manifest, _ *volumeContext) []*reason.Reason {
	m.drop("spec", "finalizers")
	return nil
}

// cleanPod makes the scheduler place the Pod again. The priority follows from the
// priority class, and the API server refuses any other. The Job finalizer is
// removed: the Job controller adds it to the Pods that it adopts.
func cleanPod(m manifest, _ *volumeContext) []*reason.Reason {
	removeProtection(m)
	m.drop("spec", "nodeName")
	m.drop("spec", "priority")
	lost := []*reason.Reason{reason.PodsRestart}
	if len(m.list("spec", "ephemeralContainers")) > 0 {
		m.drop("spec", "ephemeralContainers")
		lost = append(lost, reason.DebugContainersLost)
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
func cleanJob(m manifest, _ *volumeContext) []*reason.Reason {
	finished := slices.ContainsFunc(m.items("status", "conditions"), func(c manifest) bool {
		return c.text("status") == "True" && slices.Contains([]string{"Complete", "Failed"}, c.text("type"))
	})
	if finished {
		m.set(true, "spec", "suspend")
		if !m.flag("spec", "manualSelector") {
			m.drop("spec", "selector")
			for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
				m.drop("spec", "template", "metadata", "labels", label)
				m.drop("metadata", "labels", label)
			}
		}
		return []*reason.Reason{reason.FinishedJobsSuspended}
	}
	if m.has("spec", "selector") {
		m.set(true, "spec", "manualSelector")
	}
	return []*reason.Reason{reason.JobsRestartCount}
}

func isToken(m manifest) bool { return m.text("type") == "kubernetes.io/service-account-token" }

// cleanToken makes the token controller issue a new token. It would delete a Secret
// with the UID of a service account that does not exist.
func cleanToken(m manifest, _ *volumeContext) []*reason.Reason {
	if !isToken(m) {
		return nil
	}
	m.drop("metadata", "annotations", "kubernetes.io/service-account.uid")
	for _, key := range []string{"token", "ca.crt", "namespace"} {
		m.drop("data", key)
	}
	return []*reason.Reason{reason.TokensReplaced}
}

// volumeContext is which PersistentVolumes exist or will exist. How a claim is
// cleaned depends on it.
type volumeContext struct {
	live      *liveIndex
	recreated map[string]bool // by this restoration or an earlier one
}

// cleanVolume keeps the name of the claim in a PersistentVolume and removes its UID.
// With the UID of a deleted claim, the volume controller would treat the volume as
// released, and delete its contents if the reclaim policy says so.
func cleanVolume(m manifest, _ *volumeContext) []*reason.Reason {
	removeProtection(m)
	m.drop("spec", "claimRef", "uid")
	m.drop("spec", "claimRef", "resourceVersion")
	m.drop("metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	return []*reason.Reason{reason.VolumeContentsNotRestored}
}

// cleanClaim makes the volume controller bind a PersistentVolumeClaim again. It
// removes the name of a volume that does not exist: the claim would wait for it
// forever.
func cleanClaim(m manifest, v *volumeContext) []*reason.Reason {
	removeProtection(m)
	for _, key := range []string{"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node"} {
		m.drop("metadata", "annotations", key)
	}
	name := m.text("spec", "volumeName")
	if name == "" || v.recreated[name] { // the claimRef of a recreated volume has no UID
		return nil
	}
	switch volume, absent := v.live.find("PersistentVolume", name); {
	case volume != nil:
		return []*reason.Reason{reason.ClaimVolumeBound(name)}
	case !absent:
		return []*reason.Reason{reason.ClaimVolumeUnverified(name)}
	}
	m.drop("spec", "volumeName")
	return []*reason.Reason{reason.ClaimsEmpty}
}

// headless is the clusterIP of a Service without an address.
const headless = "None"

// cleanService keeps the addresses. If they are taken by now, WithoutAllocatedFields
// removes them.
func cleanService(m manifest, _ *volumeContext) []*reason.Reason {
	if !hasAllocatedFields(m) {
		return nil
	}
	return []*reason.Reason{reason.ServiceAddressesMayChange}
}

// hasAllocatedFields reports whether a Service asks for a particular address or port.
func hasAllocatedFields(m manifest) bool {
	ip := m.text("spec", "clusterIP")
	return ip != "" && ip != headless || m.has("spec", "healthCheckNodePort") ||
		slices.ContainsFunc(m.items("spec", "ports"), func(port manifest) bool { return port.has("nodePort") })
}

// WithoutAllocatedFields returns the body of a Service without the addresses and
// node ports that the API server allocates, and reports whether that differs from
// the given body. It is for a server that refuses the body because they are taken.
func WithoutAllocatedFields(o object.Identity, body json.RawMessage) (json.RawMessage, bool) {
	if k := o.GroupVersionKind().GroupKind(); k.Group != "" || k.Kind != "Service" {
		return nil, false
	}
	m, err := parse(body)
	if err != nil || !hasAllocatedFields(m) {
		return nil, false
	}
	if m.text("spec", "clusterIP") != headless {
		m.drop("spec", "clusterIP")
		m.drop("spec", "clusterIPs")
	}
	m.drop("spec", "healthCheckNodePort")
	for _, port := range m.items("spec", "ports") {
		port.drop("nodePort")
	}
	out, err := json.Marshal(m)
	return out, err == nil
}
