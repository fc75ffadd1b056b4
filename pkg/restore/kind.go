package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// kind is what is special about recreating objects of a kind. Functions may be nil.
type kind struct {
	// adopts says that the kind is a controller that immediately creates missing
	// dependents, and adopts existing ones that match its selector. So its
	// dependents must exist before it does.
	adopts bool
	// refuses says which other objects the kind may refuse: it is created after them.
	refuses refusal
	// skip returns why an object is not created, or nil.
	skip func(m manifest) reason.Reason
	// clean does for this kind what the function clean does for all.
	clean func(m manifest, v *volumeContext) []reason.Reason
	// prerequisites returns further objects that must exist before.
	prerequisites func(m manifest) []prerequisite
}

// refusal is the scope in which an object may refuse others.
type refusal int

const (
	refusesNothing refusal = iota
	refusesInNamespace
	refusesAnywhere
)

// prerequisite is an object without which another is refused, or deleted again.
type prerequisite struct {
	schema.GroupKind
	namespace, name string
}

// kinds are the kinds that need special treatment.
var kinds = map[schema.GroupKind]kind{
	{Group: "apps", Kind: "Deployment"}:  {adopts: true},
	{Group: "apps", Kind: "ReplicaSet"}:  {adopts: true},
	{Group: "apps", Kind: "StatefulSet"}: {adopts: true},
	{Group: "apps", Kind: "DaemonSet"}:   {adopts: true},
	{Kind: "ReplicationController"}:      {adopts: true},
	{Group: "batch", Kind: "Job"}:        {adopts: true, clean: cleanJob},
	{Kind: "Pod"}:                        {skip: skipPod, clean: cleanPod, prerequisites: podPrerequisites},

	{Kind: "Namespace"}: {clean: cleanNamespace},
	{Kind: "Service"}:   {clean: cleanService},

	persistentVolume:                {clean: cleanVolume},
	{Kind: "PersistentVolumeClaim"}: {clean: cleanClaim},

	{Kind: "Secret"}:         {clean: cleanSecret, prerequisites: secretPrerequisites},
	{Kind: "ServiceAccount"}: {skip: skipServiceAccount},
	{Kind: "ConfigMap"}:      {skip: skipConfigMap},

	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {skip: skipEndpointSlice},
	{Kind: "Endpoints"}:                                   {skip: skipEndpoints},
	{Group: "coordination.k8s.io", Kind: "Lease"}:         {skip: skipLease},
	{Kind: "Event"}:                                       {skip: skipEvent},
	{Group: "events.k8s.io", Kind: "Event"}:               {skip: skipEvent},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}: {refuses: refusesAnywhere, skip: skipAPIService},
	{Kind: "ResourceQuota"}:                               {refuses: refusesInNamespace},
	{Kind: "LimitRange"}:                                  {refuses: refusesInNamespace},
	admission("ValidatingWebhookConfiguration"):           {refuses: refusesAnywhere},
	admission("MutatingWebhookConfiguration"):             {refuses: refusesAnywhere},
	admission("ValidatingAdmissionPolicyBinding"):         {refuses: refusesAnywhere},
	admission("MutatingAdmissionPolicyBinding"):           {refuses: refusesAnywhere},
}

var persistentVolume = schema.GroupKind{Kind: "PersistentVolume"}

func admission(name string) schema.GroupKind {
	return schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: name}
}

func kindOf(o object.Identity) kind { return kinds[o.GroupVersionKind().GroupKind()] }

// adopting reports whether the owner is a controller that adopts.
func adopting(r object.Reference) bool { return kinds[r.GroupVersionKind().GroupKind()].adopts }

// removeProtection removes the finalizers that the API server or a controller of
// Kubernetes adds by itself.
func removeProtection(m manifest) {
	m.removeStrings([]string{"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "batch.kubernetes.io/job-tracking"}, "metadata", "finalizers")
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
