package simulate

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// knownFinalizer describes a finalizer and the controller that removes it.
type knownFinalizer struct {
	controller string // a noun: "the Job controller"
	condition  string // for the removal, a clause: "the Job is being deleted"
	kind       schema.GroupKind
	// removable reports whether the controller removes the finalizer from an object of
	// kind. Nil: that depends on what a scan does not show, so the finalizer stays.
	removable func(*finalizerControllers, graph.Node) bool
}

// These finalizers depend on who uses a claim or a volume: see object.Object.Claims.
const (
	ClaimProtection  = "kubernetes.io/pvc-protection"
	VolumeProtection = "kubernetes.io/pv-protection"
)

// knownFinalizers are those of Kubernetes, and some of widely used controllers.
var knownFinalizers = map[string]knownFinalizer{
	object.ForegroundFinalizer:                                              {controller: "the garbage collector", condition: "no dependent blocks the deletion any more"},
	object.OrphanFinalizer:                                                  {controller: "the garbage collector", condition: "every dependent has lost its reference to the object"},
	DefinitionFinalizer:                                                     {controller: "the API server", condition: "every object of the kind is gone"},
	"batch.kubernetes.io/job-tracking":                                      {controller: "the Job controller", condition: "the Pod is being deleted, its Job is, or the Pod has no controller", kind: podKind, removable: (*finalizerControllers).jobTrackingDone},
	ClaimProtection:                                                         {controller: "the volume protection of Kubernetes", condition: "no Pod on a node uses the claim", kind: claimKind, removable: (*finalizerControllers).claimUnused},
	VolumeProtection:                                                        {controller: "the volume protection of Kubernetes", condition: "no claim is bound to the volume", kind: volumeKind, removable: (*finalizerControllers).volumeUnbound},
	"kubernetes.io/vac-protection":                                          {controller: "the volume protection of Kubernetes", condition: "no volume and no claim uses the class"},
	"kubernetes.io/pv-controller":                                           {controller: "the volume controller of Kubernetes", condition: "the storage behind the volume is deleted"},
	"resource.kubernetes.io/delete-protection":                              {controller: "the resource claim controller", condition: "no Pod uses the claim"},
	"networking.k8s.io/service-cidr-finalizer":                              {controller: "the service CIDR controller", condition: "no Service has an address of the range"},
	"scheduling.k8s.io/podgroup-protection":                                 {controller: "the Pod group protection of Kubernetes", condition: "no Pod is in the group"},
	"service.kubernetes.io/load-balancer-cleanup":                           {controller: "the cloud's service controller", condition: "the load balancer is deleted"},
	"external-provisioner.volume.kubernetes.io/finalizer":                   {controller: "the storage driver's provisioner", condition: "the storage behind the volume is deleted"},
	"snapshot.storage.kubernetes.io/volumesnapshot-bound-protection":        {controller: "the snapshot controller", condition: "the snapshot and its content are no longer bound"},
	"snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection": {controller: "the snapshot controller", condition: "the snapshot and its content are no longer bound"},
	"snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection":    {controller: "the snapshot controller", condition: "no volume is being created from the snapshot"},
	"snapshot.storage.kubernetes.io/pvc-as-source-protection":               {controller: "the snapshot controller", condition: "no snapshot is being taken of the claim"},
	"resources-finalizer.argocd.argoproj.io":                                {controller: "Argo CD", condition: "what the application deployed is deleted"},
	"finalizer.acme.cert-manager.io":                                        {controller: "cert-manager", condition: "the challenge is cleaned up"},
	"karpenter.sh/termination":                                              {controller: "Karpenter", condition: "the node is drained and its machine is gone"},
	"service.k8s.aws/resources":                                             {controller: "the AWS load balancer controller", condition: "what it created in the cloud is deleted"},
	"ingress.k8s.aws/resources":                                             {controller: "the AWS load balancer controller", condition: "what it created in the cloud is deleted"},
	"elbv2.k8s.aws/resources":                                               {controller: "the AWS load balancer controller", condition: "what it created in the cloud is deleted"},
}

// finalizerDomains are the domains of controllers that use several finalizers.
var finalizerDomains = []struct{ domain, controller string }{
	{"argocd.argoproj.io", "Argo CD"},
	{"cattle.io", "Rancher"},
	{"ceph.rook.io", "Rook"},
	{"cert-manager.io", "cert-manager"},
	{"cluster.x-k8s.io", "Cluster API"},
	{"crossplane.io", "Crossplane"},
	{"fluxcd.io", "Flux"},
	{"istio.io", "Istio"},
	{"k8s.aws", "an AWS controller"},
	{"karpenter.sh", "Karpenter"},
	{"keda.sh", "KEDA"},
	{"knative.dev", "Knative"},
	{"kubevirt.io", "KubeVirt"},
	{"longhorn.io", "Longhorn"},
	{"snapshot.storage.kubernetes.io", "the snapshot controller"},
	{"strimzi.io", "Strimzi"},
	{"tekton.dev", "Tekton"},
	{"velero.io", "Velero"},
}

// FinalizerController returns which controller removes a finalizer, and under which
// condition, as a noun and a clause: "the Job controller", "the Job is being deleted". The
// condition is empty if only the controller is known. If not even that is known, known is
// false and controller is the domain in the finalizer's name, or empty.
func FinalizerController(finalizer string) (controller, condition string, known bool) {
	if f, ok := knownFinalizers[finalizer]; ok {
		return f.controller, f.condition, true
	}
	domain, _, slashed := strings.Cut(finalizer, "/")
	if domain == "external-attacher" {
		return "the storage driver's attacher", "the volume is detached from its node", true
	}
	for _, d := range finalizerDomains {
		if domain == d.domain || strings.HasSuffix(domain, "."+d.domain) {
			return d.controller, "", true
		}
	}
	if !slashed && !strings.Contains(domain, ".") {
		return "", "", false
	}
	return domain, "", false
}
