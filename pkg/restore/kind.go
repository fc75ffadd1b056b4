package restore

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// kindRules is what is special about recreating objects of a kind. Its functions may be nil.
type kindRules struct {
	// adopts says that the kind is a controller that immediately creates missing
	// dependents, and adopts existing ones that match its selector. So its
	// dependents must exist before it does.
	adopts bool
	// refuses says which other objects the kind may refuse: it is created after them.
	refuses refusal
	// skip says which objects are not created: those that the server or controllers create
	// by themselves, as their names would be taken or there would be two of them, and Pods
	// that would run again.
	skip []skipRule
	// clean does for this kind what the function clean does for all.
	clean func(m manifest, v *volumeContext) []*reason.Reason
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

// skipRule skips an object if one of its fields has a certain value.
type skipRule struct {
	field []string // nil: every object is skipped
	value string   // empty: any value
	why   *reason.Reason
}

// whySkip returns why an object of the kind is not created, or nil.
func (k kindRules) whySkip(m manifest) *reason.Reason {
	for _, r := range k.skip {
		value := m.text(r.field...)
		if r.field == nil || value != "" && (r.value == "" || r.value == value) {
			return r.why
		}
	}
	return nil
}

// prerequisite is an object without which another is refused, or deleted again.
type prerequisite struct {
	schema.GroupKind
	namespace, name string
}

// kinds are the kinds that need special treatment.
var kinds = map[schema.GroupKind]kindRules{
	{Group: "apps", Kind: "Deployment"}:  {adopts: true},
	{Group: "apps", Kind: "ReplicaSet"}:  {adopts: true},
	{Group: "apps", Kind: "StatefulSet"}: {adopts: true},
	{Group: "apps", Kind: "DaemonSet"}:   {adopts: true},
	{Kind: "ReplicationController"}:      {adopts: true},
	{Group: "batch", Kind: "Job"}:        {adopts: true, clean: cleanJob},
	{Kind: "Pod"}: {
		skip: []skipRule{
			{annotation("kubernetes.io/config.mirror"), "", reason.MirrorPod},
			{[]string{"status", "phase"}, "Succeeded", reason.PodFinished},
			{[]string{"status", "phase"}, "Failed", reason.PodFinished},
		},
		clean: cleanPod, prerequisites: podPrerequisites,
	},

	{Kind: "Namespace"}: {clean: cleanNamespace},
	{Kind: "Service"}:   {clean: cleanService},

	persistentVolume:                {clean: cleanVolume},
	{Kind: "PersistentVolumeClaim"}: {clean: cleanClaim},

	{Kind: "Secret"}:         {clean: cleanToken, prerequisites: tokenPrerequisites},
	{Kind: "ServiceAccount"}: {skip: []skipRule{{objectName, "default", reason.ComesWithNamespace(true)}}},
	{Kind: "ConfigMap"}:      {skip: []skipRule{{objectName, "kube-root-ca.crt", reason.ComesWithNamespace(false)}}},

	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {
		skip: []skipRule{{label("endpointslice.kubernetes.io/managed-by"), "", reason.CreatedForService}},
	},
	{Kind: "Endpoints"}: {skip: []skipRule{
		{label("endpoints.kubernetes.io/managed-by"), "", reason.CreatedForService},
		{annotation("endpoints.kubernetes.io/last-change-trigger-time"), "", reason.CreatedForService},
	}},
	{Group: "coordination.k8s.io", Kind: "Lease"}: {skip: []skipRule{{why: reason.LeaseRenewed}}},
	{Kind: "Event"}:                         {skip: []skipRule{{why: reason.EventPast}}},
	{Group: "events.k8s.io", Kind: "Event"}: {skip: []skipRule{{why: reason.EventPast}}},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}: {
		refuses: refusesAnywhere,
		skip:    []skipRule{{label("kube-aggregator.kubernetes.io/automanaged"), "", reason.CreatedByServer}},
	},
	{Kind: "ResourceQuota"}:                       {refuses: refusesInNamespace},
	{Kind: "LimitRange"}:                          {refuses: refusesInNamespace},
	admission("ValidatingWebhookConfiguration"):   {refuses: refusesAnywhere},
	admission("MutatingWebhookConfiguration"):     {refuses: refusesAnywhere},
	admission("ValidatingAdmissionPolicyBinding"): {refuses: refusesAnywhere},
	admission("MutatingAdmissionPolicyBinding"):   {refuses: refusesAnywhere},
}

var (
	persistentVolume = schema.GroupKind{Kind: "PersistentVolume"}
	serviceAccount   = schema.GroupKind{Kind: "ServiceAccount"}

	objectName = []string{"metadata", "name"}
)

func label(key string) []string { return []string{"metadata", "labels", key} }

func annotation(key string) []string { return []string{"metadata", "annotations", key} }

func admission(name string) schema.GroupKind {
	return schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: name}
}

func kindOf(o object.Identity) kindRules { return kinds[o.GroupVersionKind().GroupKind()] }

// adopting reports whether the owner is a controller that adopts.
func adopting(r object.Reference) bool { return kinds[r.GroupVersionKind().GroupKind()].adopts }

// podPrerequisites returns the objects without which admission refuses the Pod. An empty
// name matches no object.
func podPrerequisites(m manifest) []prerequisite {
	return []prerequisite{
		{serviceAccount, m.text("metadata", "namespace"), m.text("spec", "serviceAccountName")},
		{schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, "", m.text("spec", "priorityClassName")},
		{schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}, "", m.text("spec", "runtimeClassName")},
	}
}

// tokenPrerequisites returns the service account of a token, without which the token
// controller deletes the Secret.
func tokenPrerequisites(m manifest) []prerequisite {
	if !isToken(m) {
		return nil
	}
	account := m.text(annotation("kubernetes.io/service-account.name")...)
	return []prerequisite{{serviceAccount, m.text("metadata", "namespace"), account}}
}

// grantingGroups are the API groups whose objects give rights, or decide which requests the API server accepts.
var grantingGroups = []string{"rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiregistration.k8s.io", "certificates.k8s.io"}

// grants reports what plan.Creation.Grants says of an object. The token of a Secret is a user's password, and a
// conversion webhook sees and changes what its types hold.
func grants(o object.Identity, m manifest) bool {
	switch o.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Kind: "Secret"}:
		return isToken(m) || m.text("type") == "bootstrap.kubernetes.io/token"
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return m.text("spec", "conversion", "strategy") == "Webhook"
	}
	return slices.Contains(grantingGroups, o.GroupVersionKind().Group)
}

// customResourceVerbs are the verbs of every custom resource.
var customResourceVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// definedTypes returns the types that a CustomResourceDefinition serves.
func definedTypes(m manifest) []snapshot.Type {
	spec, err := json.Marshal(m["spec"])
	if err != nil {
		return nil
	}
	return snapshot.DefinedTypes(m.text("metadata", "name"), spec, customResourceVerbs)
}
