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
	deletes    string // objects without owner references that the controller deletes first: "everything the chart installed"
	protects   bool   // it protects the object until nothing uses it: see Model.UsersOf
	kind       schema.GroupKind
	// removable reports whether the controller removes the finalizer from an object of
	// kind. Nil: that depends on what a scan does not show, so the finalizer stays.
	removable func(*finalizerControllers, graph.Node) bool
}

// These finalizers depend on who uses the object: see Model.UsersOf.
const (
	ClaimProtection         = "kubernetes.io/pvc-protection"
	VolumeProtection        = "kubernetes.io/pv-protection"
	ResourceClaimProtection = "resource.kubernetes.io/delete-protection"
	PodGroupProtection      = "scheduling.k8s.io/podgroup-protection"
)

// Storage drivers remove these once no VolumeAttachment, or no snapshot that is not ready, is left.
const (
	attacherPrefix   = "external-attacher/"
	sourceProtection = "snapshot.storage.kubernetes.io/pvc-as-source-protection"
)

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
	ClaimProtection:                                                  {controller: "the volume protection (kube-controller-manager)", condition: "no Pod on a node uses the claim", kind: object.VolumeClaim, protects: true, removable: (*finalizerControllers).unused},
	VolumeProtection:                                                 {controller: "the volume protection (kube-controller-manager)", condition: "no claim is bound to the volume", kind: object.Volume, protects: true, removable: (*finalizerControllers).unused},
	"kubernetes.io/vac-protection":                                   {controller: "the volume protection (kube-controller-manager)", condition: "no volume and no claim uses the class"},
	"kubernetes.io/pv-controller":                                    {controller: "the volume controller (kube-controller-manager)", condition: "the storage behind the volume is deleted"},
	ResourceClaimProtection:                                          {controller: "the resource claim controller (kube-controller-manager)", condition: "no Pod uses the claim", kind: resourceClaimKind, protects: true, removable: (*finalizerControllers).unused},
	"networking.k8s.io/service-cidr-finalizer":                       {controller: "the service CIDR controller (kube-controller-manager)", condition: "no Service has an address of the range"},
	PodGroupProtection:                                               {controller: "the Pod group protection (kube-controller-manager)", condition: "no Pod is in the group", kind: podGroupKind, protects: true, removable: (*finalizerControllers).unused},
	"service.kubernetes.io/load-balancer-cleanup":                    {controller: "the cloud's service controller (cloud-controller-manager)", condition: "the load balancer is deleted"},
	"external-provisioner.volume.kubernetes.io/finalizer":            {controller: "the storage driver's csi-provisioner", condition: "the storage behind the volume is deleted"},
	"snapshot.storage.kubernetes.io/volumesnapshot-bound-protection": {controller: "the snapshot controller", condition: "the snapshot and its content are no longer bound"},
	"snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection": {controller: "the snapshot controller", condition: "the snapshot and its content are no longer bound"},
	"snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection":    {controller: "the snapshot controller", condition: "no volume is being created from the snapshot"},
	sourceProtection:                          {controller: "the snapshot controller", condition: "no snapshot is being taken of the claim"},
	"delete-knative-eventing-manifest":        {controller: "the Knative operator", condition: "everything it installed is gone", deletes: "everything it installed"},
	"delete-knative-serving-manifest":         {controller: "the Knative operator", condition: "everything it installed is gone", deletes: "everything it installed"},
	"finalizer.kiali":                         {controller: "the Kiali operator", condition: "everything it installed is gone", deletes: "everything it installed"},
	"foregroundDeleteVirtualMachine":          {controller: "KubeVirt", condition: "the virtual machine has stopped"},
	"wrangler.cattle.io/on-helm-chart-remove": {controller: "the Helm controller of K3s and RKE2", condition: "the chart is uninstalled", deletes: "everything the chart installed"},
	"resources-finalizer.argocd.argoproj.io":  {controller: "Argo CD", condition: "everything the application deployed is gone", deletes: "everything the application deployed"},
	"finalizer.acme.cert-manager.io":          {controller: "cert-manager", condition: "the challenge is cleaned up"},
	"karpenter.sh/termination":                {controller: "Karpenter", condition: "the node is drained and its machine is gone"},
	"service.k8s.aws/resources":               {controller: "the AWS load balancer controller", condition: "the cloud resources it created are gone"},
	"ingress.k8s.aws/resources":               {controller: "the AWS load balancer controller", condition: "the cloud resources it created are gone"},
	"elbv2.k8s.aws/resources":                 {controller: "the AWS load balancer controller", condition: "the cloud resources it created are gone"},
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
