package simulate

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// knownFinalizer describes a finalizer and the controller that removes it.
type knownFinalizer struct {
	controller string // a noun: "the Job controller"
	condition  string // for the removal, a clause: "the Job is being deleted"
	deletes    string // objects without owner references that the controller deletes first: "everything the chart installed"
	kind       schema.GroupKind
	protects   *protection // until nothing uses the object: see Model.InUse; nil: it is for a cleanup
	// removable reports whether the controller removes the finalizer from an object of
	// kind. Nil: that depends on what a scan does not show, so the finalizer stays.
	removable func(*finalizerControllers, graph.Node) bool
}

// protection is whom a finalizer protects an object for. by is the kind of these users, the zero value if
// this tool does not read who they are.
type protection struct {
	by  schema.GroupKind
	use reason.Use
}

var (
	forPods     = &protection{object.Pod, reason.Uses}
	forClaim    = &protection{object.VolumeClaim, reason.BoundTo}
	forNewClaim = &protection{object.VolumeClaim, reason.CreatedFrom}
	forAny      = &protection{}
)

// protectionBy returns whom a finalizer protects an object of that kind for, or nil.
func protectionBy(finalizer string, kind schema.GroupKind) *protection {
	f := knownFinalizers[finalizer]
	switch {
	case strings.HasPrefix(finalizer, attacherPrefix) && kind == object.Volume:
		return &protection{object.VolumeAttachment, reason.Attaches}
	case f.kind == kind:
		return f.protects
	}
	return nil
}

// Protects reports whether a finalizer protects an object until nothing uses it.
func Protects(finalizer string, o object.Identity) bool {
	return protectionBy(finalizer, o.GroupVersionKind().GroupKind()) != nil
}

// SaysProtection reports whether the name of a finalizer that this tool does not know says that it protects
// its object for somebody, such as kueue.x-k8s.io/resource-in-use.
func SaysProtection(finalizer string) bool {
	_, known := knownFinalizers[finalizer]
	_, name, _ := strings.Cut(finalizer, "/")
	return !known && (strings.Contains(name, "protection") || strings.Contains(name, "in-use"))
}

// These finalizers depend on who uses the object: see Model.InUse.
const (
	ClaimProtection         = "kubernetes.io/pvc-protection"
	VolumeProtection        = "kubernetes.io/pv-protection"
	ResourceClaimProtection = "resource.kubernetes.io/delete-protection"
	PodGroupProtection      = "scheduling.k8s.io/podgroup-protection"
)

// attacherPrefix begins the finalizers that storage drivers remove once no VolumeAttachment is left.
const attacherPrefix = "external-attacher/"

// knownFinalizers are those of Kubernetes, and some of widely used controllers.
var knownFinalizers = map[string]knownFinalizer{
	object.ForegroundFinalizer:                                       {controller: "the garbage collector", condition: "no dependent blocks the deletion anymore"},
	object.OrphanFinalizer:                                           {controller: "the garbage collector", condition: "every dependent has lost its reference to the object"},
	DefinitionFinalizer:                                              {controller: "the API server", condition: "every object of the kind is gone"},
	"batch.kubernetes.io/job-tracking":                               {controller: "the Job controller (kube-controller-manager)", condition: "the Pod is being deleted, its Job is, or the Pod has no controller", kind: object.Pod, removable: (*finalizerControllers).jobTrackingDone},
	"foregrounddeletion":                                             {controller: Nobody},
	"kubernetes.io/foregroundDeletion":                               {controller: Nobody},
	"kubernetes.io/foreground-deletion":                              {controller: Nobody},
	"kubernetes.io/orphan":                                           {controller: Nobody},
	ClaimProtection:                                                  {controller: "the volume protection (kube-controller-manager)", condition: "no Pod on a node uses the claim", kind: object.VolumeClaim, protects: forPods, removable: (*finalizerControllers).unused},
	VolumeProtection:                                                 {controller: "the volume protection (kube-controller-manager)", condition: "no claim is bound to the volume", kind: object.Volume, protects: forClaim, removable: (*finalizerControllers).unused},
	"kubernetes.io/vac-protection":                                   {controller: "the volume protection (kube-controller-manager)", condition: "no volume and no claim uses the class", kind: schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}, protects: forAny},
	"kubernetes.io/pv-controller":                                    {controller: "the volume controller (kube-controller-manager)", condition: "the storage behind the volume is deleted"},
	ResourceClaimProtection:                                          {controller: "the resource claim controller (kube-controller-manager)", condition: "no Pod uses the claim", kind: object.ResourceClaim, protects: forPods, removable: (*finalizerControllers).unused},
	"networking.k8s.io/service-cidr-finalizer":                       {controller: "the service CIDR controller (kube-controller-manager)", condition: "no Service has an address of the range", kind: schema.GroupKind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}, protects: forAny},
	PodGroupProtection:                                               {controller: "the Pod group protection (kube-controller-manager)", condition: "no Pod is in the group", kind: object.PodGroup, protects: forPods, removable: (*finalizerControllers).unused},
	"service.kubernetes.io/load-balancer-cleanup":                    {controller: "the cloud's service controller (cloud-controller-manager)", condition: "the load balancer is deleted"},
	"external-provisioner.volume.kubernetes.io/finalizer":            {controller: "the storage driver's csi-provisioner", condition: "the storage behind the volume is deleted"},
	"snapshot.storage.kubernetes.io/volumesnapshot-bound-protection": {controller: "the snapshot controller", condition: "the snapshot and its content are no longer bound", kind: object.VolumeSnapshot, protects: &protection{object.SnapshotContent, reason.BoundTo}},
	"snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection": {controller: "the snapshot controller", condition: "the snapshot and its content are no longer bound", kind: object.SnapshotContent, protects: &protection{object.VolumeSnapshot, reason.BoundTo}},
	"snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection":    {controller: "the snapshot controller", condition: "no volume is being created from the snapshot", kind: object.VolumeSnapshot, protects: forNewClaim},
	"snapshot.storage.kubernetes.io/pvc-as-source-protection":               {controller: "the snapshot controller", condition: "no snapshot is being taken of the claim", kind: object.VolumeClaim, protects: &protection{object.VolumeSnapshot, reason.CreatedFrom}},
	"provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection": {controller: "the storage driver's csi-provisioner", condition: "no volume is being created from the snapshot", kind: object.VolumeSnapshot, protects: forNewClaim},
	"provisioner.storage.kubernetes.io/cloning-protection":                  {controller: "the storage driver's csi-provisioner", condition: "no volume is being cloned from the claim", kind: object.VolumeClaim, protects: forNewClaim},
	"gateway-exists-finalizer.gateway.networking.k8s.io":                    {controller: "the controller of the Gateway's class", condition: "no Gateway is of the class", kind: schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "GatewayClass"}, protects: forAny},
	"delete-knative-eventing-manifest":                                      {controller: "the Knative operator", condition: "everything it installed is gone", deletes: "everything it installed"},
	"delete-knative-serving-manifest":                                       {controller: "the Knative operator", condition: "everything it installed is gone", deletes: "everything it installed"},
	"finalizer.kiali":                                                       {controller: "the Kiali operator", condition: "everything it installed is gone", deletes: "everything it installed"},
	"foregroundDeleteVirtualMachine":                                        {controller: "KubeVirt", condition: "the virtual machine has stopped"},
	"wrangler.cattle.io/on-helm-chart-remove":                               {controller: "the Helm controller of K3s and RKE2", condition: "the chart is uninstalled", deletes: "everything the chart installed"},
	"resources-finalizer.argocd.argoproj.io":                                {controller: "Argo CD", condition: "everything the application deployed is gone", deletes: "everything the application deployed"},
	"finalizer.acme.cert-manager.io":                                        {controller: "cert-manager", condition: "the challenge is cleaned up"},
	"karpenter.sh/termination":                                              {controller: "Karpenter", condition: "the node is drained and its machine is gone"},
	"service.k8s.aws/resources":                                             {controller: "the AWS load balancer controller", condition: "the cloud resources it created are gone"},
	"ingress.k8s.aws/resources":                                             {controller: "the AWS load balancer controller", condition: "the cloud resources it created are gone"},
	"elbv2.k8s.aws/resources":                                               {controller: "the AWS load balancer controller", condition: "the cloud resources it created are gone"},
}

// finalizerDomains are the domains of controllers that use several finalizers. A domain comes before
// the one that it is part of. A library gives all controllers that are built with it the same domain.
var finalizerDomains = []struct{ domain, controller string }{
	{"argocd.argoproj.io", "Argo CD"},
	{"serviceoperator.azure.com", "the Azure Service Operator"},
	{"wrangler.cattle.io", "a controller built with the library wrangler (K3s, RKE2, Harvester or Rancher)"},
	{"fleet.cattle.io", "Fleet"},
	{"cattle.io", "Rancher"},
	{"ceph.rook.io", "Rook"},
	{"cert-manager.io", "cert-manager"},
	{"cluster.x-k8s.io", "Cluster API"},
	{"crossplane.io", "Crossplane"},
	{"fluxcd.io", "Flux"},
	{"gateway.networking.k8s.io", "the controller of the Gateway's class"},
	{"harvesterhci.io", "Harvester"},
	{"istio.io", "Istio"},
	{"ingress.k8s.aws", "the AWS load balancer controller"},
	{"k8s.aws", "an AWS controller"},
	{"karpenter.sh", "Karpenter"},
	{"keda.sh", "KEDA"},
	{"kiali.io", "the Kiali operator"},
	{"knative.dev", "Knative"},
	{"kopf.zalando.org", "an operator built with the library kopf"},
	{"kubevirt.io", "KubeVirt"},
	{"kueue.x-k8s.io", "Kueue"},
	{"longhorn.io", "Longhorn"},
	{"operators.coreos.com", "the Operator Lifecycle Manager"},
	{"snapshot.storage.kubernetes.io", "the snapshot controller"},
	{"strimzi.io", "Strimzi"},
	{"tekton.dev", "Tekton"},
	{"tigera.io", "the Tigera operator (Calico)"},
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
	if strings.HasPrefix(finalizer, attacherPrefix) {
		return "the storage driver's csi-attacher", "the volume is detached from its node", true
	}
	domain := domainOf(finalizer)
	for _, d := range finalizerDomains {
		if within(domain, d.domain) {
			return d.controller, "", true
		}
	}
	if ofKubernetes(domain) {
		return "", "", false
	}
	return domain, "", false
}

// DeletesFirst returns what a finalizer's controller deletes before it removes the finalizer, without any
// owner reference saying so: "everything the chart installed". It returns an empty string if that is not
// known.
func DeletesFirst(finalizer string) string { return knownFinalizers[finalizer].deletes }

// AlsoDeleted says which controller deletes what before it removes one of the finalizers: "Argo CD
// deletes everything the application deployed". It returns an empty string if no such controller is known.
func AlsoDeleted(finalizers []string) string {
	for _, f := range finalizers {
		if what := DeletesFirst(f); what != "" {
			controller, _, _ := FinalizerController(f)
			return controller + " deletes " + what
		}
	}
	return ""
}

// Nobody stands for the controller of a misspelled finalizer of the collector. The collector removes only
// the exact names, so nothing ever removes it.
const Nobody = "nobody (a misspelled finalizer of the garbage collector)"

// domainOf returns the DNS domain in the name of a finalizer, or an empty string.
func domainOf(finalizer string) string {
	domain, _, slashed := strings.Cut(finalizer, "/")
	if first, rest, _ := strings.Cut(domain, "."); !slashed && strings.HasPrefix(first, "finalizer") {
		domain = rest
	}
	if !strings.Contains(domain, ".") {
		return ""
	}
	return domain
}

// within reports whether a DNS domain is another one or a part of it.
func within(domain, of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }

// OfKubernetes reports whether a finalizer is one of Kubernetes or its subprojects, by its domain.
func OfKubernetes(finalizer string) bool { return ofKubernetes(domainOf(finalizer)) }

func ofKubernetes(domain string) bool {
	return within(domain, "kubernetes.io") || within(domain, "k8s.io")
}
