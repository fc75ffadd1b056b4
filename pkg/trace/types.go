package trace

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// builtIn are kinds that audit logs name by their resources alone.
var builtIn = []string{
	"v1 Pod Service ConfigMap Secret Namespace Node ServiceAccount PersistentVolumeClaim PersistentVolume ReplicationController Endpoints ResourceQuota LimitRange PodTemplate",
	"apps/v1 Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision",
	"batch/v1 Job CronJob",
	"policy/v1 PodDisruptionBudget",
	"autoscaling/v2 HorizontalPodAutoscaler",
	"networking.k8s.io/v1 Ingress IngressClass NetworkPolicy",
	"discovery.k8s.io/v1 EndpointSlice",
	"rbac.authorization.k8s.io/v1 Role RoleBinding ClusterRole ClusterRoleBinding",
	"storage.k8s.io/v1 StorageClass VolumeAttachment CSINode CSIDriver",
	"coordination.k8s.io/v1 Lease",
	"apiextensions.k8s.io/v1 CustomResourceDefinition",
}

// typeMap maps resources to kinds and back: as the earlier scan and the log show them together, else as
// built-in kinds are named, else by the guess of apimachinery.
type typeMap struct {
	kinds     map[schema.GroupResource]string
	resources map[schema.GroupKind]string
	versions  map[schema.GroupResource]string
	// namespaced are the resources whose objects have a namespace.
	namespaced map[schema.GroupResource]bool
	served     []snapshot.Type // of the earlier scan
}

func newTypes(before *snapshot.Snapshot) *typeMap {
	t := &typeMap{map[schema.GroupResource]string{}, map[schema.GroupKind]string{}, map[schema.GroupResource]string{}, map[schema.GroupResource]bool{}, nil}
	if before != nil {
		t.served = before.Types
		for _, served := range t.served {
			t.learn(served.GroupResource(), served.Kind, served.Version)
			t.namespaced[served.GroupResource()] = served.Namespaced
		}
	}
	return t
}

// request takes what a request shows.
func (t *typeMap) request(gr schema.GroupResource, r *Request) {
	if r.Target.Namespace != "" {
		t.namespaced[gr] = true
	}
	if len(r.Objects) > 0 && r.Target.Subresource == "" && r.Objects[0].GroupVersionKind().Group == gr.Group {
		t.learn(gr, r.Objects[0].Kind, r.Target.Version)
	}
}

// complete adds the built-in types that nothing has shown.
func (t *typeMap) complete() {
	for _, line := range builtIn {
		words := strings.Fields(line)
		for _, kind := range words[1:] {
			guess := snapshot.GuessType(schema.FromAPIVersionAndKind(words[0], kind))
			t.learn(guess.GroupResource(), kind, guess.Version)
		}
	}
}

func (t *typeMap) learn(gr schema.GroupResource, kind, version string) {
	if kind == "" || t.kinds[gr] != "" {
		return
	}
	t.kinds[gr], t.versions[gr] = kind, version
	if gk := (schema.GroupKind{Group: gr.Group, Kind: kind}); t.resources[gk] == "" {
		t.resources[gk] = gr.Resource
	}
}

// resource returns the resource of a kind.
func (t *typeMap) resource(gvk schema.GroupVersionKind) schema.GroupResource {
	gr := schema.GroupResource{Group: gvk.Group, Resource: t.resources[gvk.GroupKind()]}
	if gr.Resource == "" {
		gr = snapshot.GuessType(gvk).GroupResource()
		t.learn(gr, gvk.Kind, gvk.Version)
		t.resources[gvk.GroupKind()] = gr.Resource
	}
	return gr
}

// at returns where an object is.
func (t *typeMap) at(i object.Identity) object.Address {
	gr := t.resource(i.GroupVersionKind())
	if i.Namespace != "" {
		t.namespaced[gr] = true
	}
	return object.Address{Type: gr, Namespace: i.Namespace, Name: i.Name}
}

// place completes the type of a subject.
func (t *typeMap) place(s *subject) {
	if s.resource.Resource == "" {
		s.resource = t.resource(s.GroupVersionKind())
	}
	if s.Kind == "" {
		s.Kind = t.kinds[s.resource]
	}
}

// all returns the types that the evidence shows, for the command line.
func (t *typeMap) all() []snapshot.Type {
	out := slices.Clone(t.served)
	for gr, kind := range t.kinds {
		if !slices.ContainsFunc(t.served, func(s snapshot.Type) bool { return s.GroupResource() == gr }) {
			guess := snapshot.GuessType(schema.GroupVersionKind{Group: gr.Group, Version: t.versions[gr], Kind: kind})
			guess.Resource, guess.Namespaced = gr.Resource, t.namespaced[gr]
			out = append(out, *guess)
		}
	}
	slices.SortFunc(out, snapshot.Type.Compare)
	return out
}
