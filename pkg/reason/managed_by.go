package reason

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Who may recreate an object.
type (
	// ManagedBy means that a tool or a controller wants the object to exist, whatever its owner references
	// say, and may recreate it.
	ManagedBy struct {
		Manager string `json:"manager"`
		// Kind, Group, Namespace and Name are of what asks for the object, as far as the object names it.
		Kind      string `json:"kind,omitempty"`
		Group     string `json:"group,omitempty"`
		Namespace string `json:"namespace,omitempty"`
		Name      string `json:"name,omitempty"`
	}
)

// ControllerReplaces means that the object's controller stays, and creates another object if it is deleted.
var ControllerReplaces = with[object.Identity]("ControllerReplaces", "controller", "its controller %s will likely create another")

// managers are the known managers, with where they write their marks. The first one that has left its
// mark counts: a tool that reconciles by itself stands before one that waits for a person.
var managers = []struct {
	manager, kind, group string // empty kind: find returns it
	// sentence has a %s for what asks for the object.
	sentence string
	find     func(marked) (ManagedBy, bool)
}{
	// kubernetes/kubernetes: pkg/kubelet/types/pod_update.go, IsMirrorPod
	{"kubelet", "", "", MirrorPod.Message(), func(m marked) (ManagedBy, bool) {
		return ManagedBy{}, m.IsPod() && m.annotations["kubernetes.io/config.mirror"] != ""
	}},
	// argo-cd: controller/state.go, isSelfReferencedObj; docs/user-guide/resource_tracking.md. The label
	// app.kubernetes.io/instance is everybody's.
	{"Argo CD", "Application", "argoproj.io", "Argo CD's %s contains it: its next sync recreates it, unless its source no longer has it", marked.argoCD},
	// crossplane: internal/controller/apiextensions/composite/composition_render.go, RenderComposedResourceMetadata
	{"Crossplane", "claim", "", "Crossplane composed it for %s, and recreates it as long as that exists", func(m marked) (ManagedBy, bool) {
		by, ok := labelled("crossplane.io/claim-namespace", "crossplane.io/claim-name")(m)
		return by, ok && m.composed()
	}},
	{"Crossplane", "composite resource", "", "Crossplane composed it for %s, and recreates it as long as that exists", func(m marked) (ManagedBy, bool) {
		name := m.labels["crossplane.io/composite"]
		return ManagedBy{Name: name}, m.composed() && validName(name)
	}},
	// kapp: pkg/kapp/resources/identity_annotation.go, Valid
	{"kapp", "", "", "kapp deployed it: the next kapp deploy of its app recreates it, unless the app no longer has it", func(m marked) (ManagedBy, bool) {
		if m.labels["kapp.k14s.io/app"] == "" {
			return ManagedBy{}, false
		}
		id := strings.Split(m.annotations["kapp.k14s.io/identity"], ";")
		own := strings.Join([]string{m.Namespace, m.GroupVersionKind().Group, m.Kind, m.Name}, "/")
		return ManagedBy{}, len(id) == 3 && id[0] == "v1" && id[1] == own
	}},
	// helm-controller: internal/postrender/origin_labels.go. Its objects have the marks of Helm, too.
	{
		"Flux", "HelmRelease", "helm.toolkit.fluxcd.io", "Flux's %s contains it: its next upgrade or drift correction recreates it",
		original(labelled("helm.toolkit.fluxcd.io/namespace", "helm.toolkit.fluxcd.io/name")),
	},
	// fluxcd/pkg: ssa/manager.go, SetOwnerLabels
	{
		"Flux", "Kustomization", "kustomize.toolkit.fluxcd.io", "Flux's %s contains it: its next reconciliation recreates it, unless its source no longer has it",
		original(labelled("kustomize.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/name")),
	},
	// operator-lifecycle-manager: pkg/lib/ownerutil/util.go, OwnerLabel
	{"OLM", "ClusterServiceVersion", "operators.coreos.com", "the Operator Lifecycle Manager installed it for %s, and may recreate it", original(func(m marked) (ManagedBy, bool) {
		by, ok := labelled("olm.owner.namespace", "olm.owner")(m)
		return by, ok && m.labels["olm.owner.kind"] == "ClusterServiceVersion"
	})},
	// wrangler: pkg/apply/desiredset_apply.go, GetLabelsAndAnnotations
	{"wrangler", "", "", "the controller of %s applied it, and may recreate it", original(marked.wrangler)},
	// kubernetes/kubernetes: cluster/addons/addon-manager/README.md
	{"addon manager", "", "", "the addon manager recreates it, if one is running", original(func(m marked) (ManagedBy, bool) {
		mode := m.labels["addonmanager.kubernetes.io/mode"]
		return ManagedBy{}, mode == "Reconcile" || mode == "EnsureExists"
	})},
	// kubectl: pkg/cmd/apply/applyset.go, V1ApplySetIdFormat. The id is a hash.
	{"ApplySet", "", "", "it is part of an ApplySet: the next kubectl apply --applyset recreates it, unless its manifest is gone", original(func(m marked) (ManagedBy, bool) {
		return ManagedBy{}, applySetID.MatchString(m.labels["applyset.kubernetes.io/part-of"])
	})},
	// helm: pkg/action/validate.go, checkOwnership
	{"Helm", "release", "", "Helm %s contains it: its next upgrade recreates it, unless its chart no longer has it", original(func(m marked) (ManagedBy, bool) {
		by := ManagedBy{Namespace: m.annotations["meta.helm.sh/release-namespace"], Name: m.annotations["meta.helm.sh/release-name"]}
		return by, m.labels["app.kubernetes.io/managed-by"] == "Helm" && by.valid()
	})},
	// kubernetes/kubernetes: pkg/controller/certificates/rootcacertpublisher and pkg/controller/serviceaccount
	{"kube-controller-manager", "", "", "kube-controller-manager recreates it at once", func(m marked) (ManagedBy, bool) {
		return ManagedBy{}, m.APIVersion == "v1" && (m.Kind == "ConfigMap" && m.Name == "kube-root-ca.crt" || m.Kind == "ServiceAccount" && m.Name == "default")
	}},
	// kubernetes/kubernetes: pkg/controlplane/controller/systemnamespaces and kubernetesservice; mandatory objects in
	// pkg/registry/flowcontrol/rest/storage_flowcontrol.go
	{"kube-apiserver", "", "", "the API server recreates it within a minute", func(m marked) (ManagedBy, bool) {
		mandatory := m.GroupVersionKind().Group == "flowcontrol.apiserver.k8s.io" && (m.Name == "exempt" || m.Name == "catch-all")
		return ManagedBy{}, mandatory || m.IsNamespace() && m.Name == "kube-node-lease" || m.Namespace == "default" && m.APIVersion == "v1" && m.Kind == "Service" && m.Name == "kubernetes"
	}},
}

// marked is an object with its labels and annotations.
type marked struct {
	*object.Object
	labels, annotations map[string]string
}

var (
	applySetID = regexp.MustCompile(`^applyset-[A-Za-z0-9_-]{43}-v1$`)
	ownerGVK   = regexp.MustCompile(`^([a-z0-9.-]*)/[a-z0-9]+, Kind=([A-Za-z0-9]+)$`)
)

// ManagerOf returns the manager of an object by its labels and annotations, which are untrusted. What is
// no valid name claims nothing.
func ManagerOf(o *object.Object, labels, annotations map[string]string) (by ManagedBy, ok bool) {
	m := marked{o, labels, annotations}
	for i := range managers {
		known := &managers[i]
		if by, ok = known.find(m); ok {
			by.Manager = known.manager
			if known.kind != "" {
				by.Kind, by.Group = known.kind, known.group
			}
			return by, true
		}
	}
	return ManagedBy{}, false
}

// Message implements Reason.
func (r ManagedBy) Message() string {
	asks := r.Kind + " " + r.Name
	if r.Namespace != "" {
		asks += " in namespace " + r.Namespace
	}
	for i := range managers {
		if known := &managers[i]; known.manager == r.Manager && (known.kind == "" || known.kind == r.Kind) {
			return strings.Replace(known.sentence, "%s", asks, 1)
		}
	}
	return r.Manager + " may recreate it"
}

// Uninstall returns the command that removes the Helm release with everything in it, or nil for another
// manager.
func (r ManagedBy) Uninstall() []string {
	if r.Manager != "Helm" {
		return nil
	}
	return []string{"helm", "uninstall", r.Name, "-n", r.Namespace}
}

// Is reports whether the object is what asks for the managed one.
func (r ManagedBy) Is(o object.Identity) bool {
	return r.Name == o.Name && (r.Namespace == "" || r.Namespace == o.Namespace) && o.GroupVersionKind().GroupKind() == schema.GroupKind{Group: r.Group, Kind: r.Kind}
}

func (r ManagedBy) valid() bool { return validName(r.Name) && validNamespace(r.Namespace) }

func validName(name string) bool { return name != "" && len(validation.IsDNS1123Subdomain(name)) == 0 }

func validNamespace(name string) bool { return len(validation.IsDNS1123Label(name)) == 0 }

// labelled finds what two labels name.
func labelled(namespace, name string) func(marked) (ManagedBy, bool) {
	return func(m marked) (ManagedBy, bool) {
		by := ManagedBy{Namespace: m.labels[namespace], Name: m.labels[name]}
		return by, by.valid()
	}
}

// original finds nothing on an object that may have its marks from another one: a Deployment copies its
// annotations to its ReplicaSets, as other controllers do, and Endpoints get the labels of their Service.
func original(find func(marked) (ManagedBy, bool)) func(marked) (ManagedBy, bool) {
	return func(m marked) (ManagedBy, bool) {
		if m.Controlled() || m.APIVersion == "v1" && m.Kind == "Endpoints" {
			return ManagedBy{}, false
		}
		return find(m)
	}
}

// composed reports whether Crossplane composed the object: a composite resource is its controller then.
func (m marked) composed() bool {
	return m.annotations["crossplane.io/composition-resource-name"] != "" && m.labels["crossplane.io/composite"] != "" && m.Controlled()
}

// argoCD finds the Application that tracks the object. A tracking id counts for the object that it
// names; a cluster-scoped one is tracked with the namespace of its Application's destination. Without a tracking id the label
// counts, on an object without owners.
func (m marked) argoCD() (ManagedBy, bool) {
	application, tracked := m.annotations["argocd.argoproj.io/tracking-id"]
	if tracked {
		var kind, name string
		application, kind, _ = strings.Cut(application, ":")
		kind, name, _ = strings.Cut(kind, ":")
		namespace, name, _ := strings.Cut(name, "/")
		of := m.GroupVersionKind()
		if kind != of.Group+"/"+of.Kind || name != m.Name || m.Namespace != "" && namespace != m.Namespace {
			return ManagedBy{}, false
		}
	} else if application = m.labels["argocd.argoproj.io/instance"]; len(m.Owners) > 0 || m.Kind == "Endpoints" {
		return ManagedBy{}, false
	}
	namespace, name, outside := strings.Cut(application, "_")
	if !outside {
		return ManagedBy{Name: application}, validName(application)
	}
	by := ManagedBy{Namespace: namespace, Name: name}
	return by, by.valid()
}

// wrangler finds the owner that the annotations of an object set name.
func (m marked) wrangler() (ManagedBy, bool) {
	const set = "objectset.rio.cattle.io/"
	gvk := ownerGVK.FindStringSubmatch(m.annotations[set+"owner-gvk"])
	if gvk == nil || m.labels[set+"hash"] == "" {
		return ManagedBy{}, false
	}
	by := ManagedBy{Group: gvk[1], Kind: gvk[2], Namespace: m.annotations[set+"owner-namespace"], Name: m.annotations[set+"owner-name"]}
	return by, validName(by.Name) && (by.Namespace == "" || validNamespace(by.Namespace))
}
