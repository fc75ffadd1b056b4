package simulate

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// custodian is a finalizer with the controller that takes it off.
type custodian struct {
	whose string // a noun: "the Job controller"
	when  string // what must be so before it goes, a clause: "the Job is being deleted"
	of    schema.GroupKind
	// lifts foretells whether it goes, of objects of that kind. Nil where that rests
	// on what a look does not see: then it is taken to stay.
	lifts func(*finalizerControllers, graph.Node) bool
}

// The finalizers for which one has to ask who uses a claim or a volume: see
// object.Object's Claims.
const (
	ClaimProtection  = "kubernetes.io/pvc-protection"
	VolumeProtection = "kubernetes.io/pv-protection"
)

// custodians are those of Kubernetes itself, and some whose finalizers leave no
// doubt.
var custodians = map[string]custodian{
	object.ForegroundFinalizer:                                              {whose: "the garbage collector", when: "no dependent blocks the deletion any more"},
	object.OrphanFinalizer:                                                  {whose: "the garbage collector", when: "every dependent has lost its reference to the object"},
	crdFinalizer:                                                            {whose: "the API server", when: "every object of the kind is gone"},
	"batch.kubernetes.io/job-tracking":                                      {whose: "the Job controller", when: "the Pod is being deleted, its Job is, or the Pod has no controller", of: podKind, lifts: (*finalizerControllers).tracked},
	ClaimProtection:                                                         {whose: "the volume protection of Kubernetes", when: "no Pod on a node uses the claim", of: claimKind, lifts: (*finalizerControllers).unmounted},
	VolumeProtection:                                                        {whose: "the volume protection of Kubernetes", when: "no claim is bound to the volume", of: volumeKind, lifts: (*finalizerControllers).unbound},
	"kubernetes.io/vac-protection":                                          {whose: "the volume protection of Kubernetes", when: "no volume and no claim uses the class"},
	"kubernetes.io/pv-controller":                                           {whose: "the volume controller of Kubernetes", when: "the storage behind the volume is deleted"},
	"resource.kubernetes.io/delete-protection":                              {whose: "the resource claim controller", when: "no Pod uses the claim"},
	"networking.k8s.io/service-cidr-finalizer":                              {whose: "the service CIDR controller", when: "no Service has an address of the range"},
	"scheduling.k8s.io/podgroup-protection":                                 {whose: "the Pod group protection of Kubernetes", when: "no Pod is in the group"},
	"service.kubernetes.io/load-balancer-cleanup":                           {whose: "the cloud's service controller", when: "the load balancer is deleted"},
	"external-provisioner.volume.kubernetes.io/finalizer":                   {whose: "the storage driver's provisioner", when: "the storage behind the volume is deleted"},
	"snapshot.storage.kubernetes.io/volumesnapshot-bound-protection":        {whose: "the snapshot controller", when: "the snapshot and its content are no longer bound"},
	"snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection": {whose: "the snapshot controller", when: "the snapshot and its content are no longer bound"},
	"snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection":    {whose: "the snapshot controller", when: "no volume is being created from the snapshot"},
	"snapshot.storage.kubernetes.io/pvc-as-source-protection":               {whose: "the snapshot controller", when: "no snapshot is being taken of the claim"},
	"resources-finalizer.argocd.argoproj.io":                                {whose: "Argo CD", when: "what the application deployed is deleted"},
	"finalizer.acme.cert-manager.io":                                        {whose: "cert-manager", when: "the challenge is cleaned up"},
	"karpenter.sh/termination":                                              {whose: "Karpenter", when: "the node is drained and its machine is gone"},
	"service.k8s.aws/resources":                                             {whose: "the AWS load balancer controller", when: "what it created in the cloud is deleted"},
	"ingress.k8s.aws/resources":                                             {whose: "the AWS load balancer controller", when: "what it created in the cloud is deleted"},
	"elbv2.k8s.aws/resources":                                               {whose: "the AWS load balancer controller", when: "what it created in the cloud is deleted"},
}

// families are those who put finalizers below a domain of theirs.
var families = []struct{ domain, whose string }{
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

// FinalizerController says who takes a finalizer off, and when, as a noun and a clause: "the
// Job controller", "the Job is being deleted". When is empty where only the owner
// is known. Where not even that is, known is false and whose is the domain in the
// finalizer's name, as far as can be told, or empty.
func FinalizerController(finalizer string) (whose, when string, known bool) {
	if c, ok := custodians[finalizer]; ok {
		return c.whose, c.when, true
	}
	domain, _, slashed := strings.Cut(finalizer, "/")
	if domain == "external-attacher" {
		return "the storage driver's attacher", "the volume is detached from its node", true
	}
	for _, f := range families {
		if domain == f.domain || strings.HasSuffix(domain, "."+f.domain) {
			return f.whose, "", true
		}
	}
	if !slashed && !strings.Contains(domain, ".") {
		return "", "", false
	}
	return domain, "", false
}
