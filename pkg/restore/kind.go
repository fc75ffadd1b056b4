package restore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// kind is what is special about objects of a kind when they are made again.
type kind struct {
	// adopts says that the kind is a controller which makes at once what it misses,
	// and takes over what is there already and fits its selector. So what it owns
	// has to be there before it is.
	adopts bool
	// gate says that the kind may refuse other objects: it comes after them.
	gate gate
	// leave returns why an object is not created, or nil. It may be nil itself.
	leave func(m manifest) reason.Reason
	// clean is clean for this kind. It may be nil.
	clean func(m manifest, s *surroundings) []reason.Reason
	// needs are further objects that have to be there before. It may be nil.
	needs func(m manifest) []need
}

// gate says whom an object may refuse.
type gate int

const (
	open        gate = iota
	ofNamespace      // everything in its namespace
	ofAll            // everything
)

// need is an object without which another is refused, or deleted again.
type need struct {
	schema.GroupKind
	namespace, name string
}

// kinds are those with something special about them.
var kinds = map[schema.GroupKind]kind{
	{Group: "apps", Kind: "Deployment"}:  {adopts: true},
	{Group: "apps", Kind: "ReplicaSet"}:  {adopts: true},
	{Group: "apps", Kind: "StatefulSet"}: {adopts: true},
	{Group: "apps", Kind: "DaemonSet"}:   {adopts: true},
	{Kind: "ReplicationController"}:      {adopts: true},
	{Group: "batch", Kind: "Job"}:        {adopts: true, clean: cleanJob},
	{Kind: "Pod"}:                        {leave: leavePod, clean: cleanPod, needs: podNeeds},

	{Kind: "Namespace"}: {clean: cleanNamespace},
	{Kind: "Service"}:   {clean: cleanService},

	{Kind: "PersistentVolume"}:      {clean: cleanVolume},
	{Kind: "PersistentVolumeClaim"}: {clean: cleanClaim},

	{Kind: "Secret"}:         {clean: cleanSecret, needs: secretNeeds},
	{Kind: "ServiceAccount"}: {leave: leaveAccount},
	{Kind: "ConfigMap"}:      {leave: leaveConfigMap},

	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {leave: leaveSlice},
	{Kind: "Endpoints"}:                                   {leave: leaveEndpoints},
	{Group: "coordination.k8s.io", Kind: "Lease"}:         {leave: leaveLease},
	{Kind: "Event"}:                                       {leave: leaveEvent},
	{Group: "events.k8s.io", Kind: "Event"}:               {leave: leaveEvent},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}: {gate: ofAll, leave: leaveAPIService},
	{Kind: "ResourceQuota"}:                               {gate: ofNamespace},
	{Kind: "LimitRange"}:                                  {gate: ofNamespace},
	admission("ValidatingWebhookConfiguration"):           {gate: ofAll},
	admission("MutatingWebhookConfiguration"):             {gate: ofAll},
	admission("ValidatingAdmissionPolicyBinding"):         {gate: ofAll},
	admission("MutatingAdmissionPolicyBinding"):           {gate: ofAll},
}

func admission(name string) schema.GroupKind {
	return schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: name}
}

func kindOf(o object.Identity) kind { return kinds[o.GroupVersionKind().GroupKind()] }

// adopting says whether a reference leads to a controller that adopts.
func adopting(r object.Reference) bool { return kinds[r.GroupVersionKind().GroupKind()].adopts }

// protection are finalizers that the server or a controller of Kubernetes sets
// by itself.
var protection = []string{"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "batch.kubernetes.io/job-tracking"}

func unprotected(m manifest) { m.without(slices.Clone(protection), "metadata", "finalizers") }
