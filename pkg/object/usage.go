package object

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Usage is what an object says, outside of the metadata that a scan keeps, of what it uses and of how it serves.
type Usage struct {
	Uses           []Use             // optional ones last
	Ended          bool              // a Pod that has run to its end
	Ready          bool              // a Pod that is ready
	Labels         map[string]string // of a Pod
	Budget         *Budget           // of a PodDisruptionBudget
	ClaimTemplates []string          // their names, of a StatefulSet
}

// Use is how an object uses another one, which is in its namespace or in none.
type Use struct {
	schema.GroupKind
	Name string
	As   UsedAs
}

// UsedAs is what an object is for another one that names it. The words are part of the JSON contract.
type UsedAs string

// What an object is used as.
const (
	AsEnvironment  UsedAs = "environment"
	AsVolume       UsedAs = "volume"
	AsClaim        UsedAs = "claim"
	AsPullSecret   UsedAs = "imagePullSecret"
	AsOptional     UsedAs = "optional" // its user does without it
	AsAccount      UsedAs = "serviceAccount"
	AsPodClass     UsedAs = "podClass" // a PriorityClass or a RuntimeClass
	AsStorageClass UsedAs = "storageClass"
	AsIngressClass UsedAs = "ingressClass"
	AsRole         UsedAs = "role" // of a binding
)

// Budget is what a PodDisruptionBudget protects, and how many evictions it allows now.
type Budget struct {
	Selector labels.Selector
	Allowed  int64
}

const rbac = "rbac.authorization.k8s.io"

// The kinds that others use, besides VolumeClaim, and those that use them or serve.
var (
	secret        = schema.GroupKind{Kind: "Secret"}
	configMap     = schema.GroupKind{Kind: "ConfigMap"}
	account       = schema.GroupKind{Kind: "ServiceAccount"}
	priorityClass = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	runtimeClass  = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
	storageClass  = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	ingressClass  = schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}

	ingress          = schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
	roleBinding      = schema.GroupKind{Group: rbac, Kind: "RoleBinding"}
	clusterBinding   = schema.GroupKind{Group: rbac, Kind: "ClusterRoleBinding"}
	StatefulSet      = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	DisruptionBudget = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
)

var userKinds = map[schema.GroupKind][]schema.GroupKind{
	secret: {Pod}, configMap: {Pod}, account: {Pod}, VolumeClaim: {Pod}, priorityClass: {Pod}, runtimeClass: {Pod},
	storageClass: {VolumeClaim}, ingressClass: {ingress},
	{Group: rbac, Kind: "Role"}: {roleBinding}, {Group: rbac, Kind: "ClusterRole"}: {roleBinding, clusterBinding},
}

// Users returns where the objects are that may use the object, as their Usage says: identities with a kind and a
// namespace, which is empty if they may be anywhere.
func (i Identity) Users() (out []Identity) {
	for _, kind := range userKinds[i.GroupVersionKind().GroupKind()] {
		out = append(out, Identity{APIVersion: kind.WithVersion("v1").GroupVersion().String(), Kind: kind.Kind, Namespace: i.Namespace})
	}
	return out
}

// usageFields has the fields that decide, under their names in JSON.
type usageFields struct {
	Metadata struct{ Labels map[string]string }
	RoleRef  struct{ Kind, Name string }
	Spec     struct {
		ServiceAccountName, PriorityClassName, RuntimeClassName, StorageClassName, IngressClassName string

		Containers, InitContainers []struct {
			EnvFrom []struct{ SecretRef, ConfigMapRef *usedSource }
			Env     []struct {
				ValueFrom struct{ SecretKeyRef, ConfigMapKeyRef *usedSource }
			}
		}
		Volumes []struct {
			Secret, ConfigMap *usedSource
			Projected         struct {
				Sources []struct{ Secret, ConfigMap *usedSource }
			}
			CSI                   struct{ NodePublishSecretRef *usedSource }
			PersistentVolumeClaim struct{ ClaimName string }
		}
		ImagePullSecrets     []*usedSource
		VolumeClaimTemplates []struct{ Metadata struct{ Name string } }
		Selector             *metav1.LabelSelector
	}
	Status struct {
		Phase              string
		Conditions         []struct{ Type, Status string }
		DisruptionsAllowed int64
	}
}

// usedSource names a Secret or a ConfigMap.
type usedSource struct {
	Name, SecretName string // only one of them is set
	Optional         bool
}

// UsageOf returns the Usage of an object from its JSON. ok is false if its kind has none, or if it is malformed.
func UsageOf(i Identity, raw json.RawMessage) (u Usage, ok bool) {
	kind := i.GroupVersionKind().GroupKind()
	read := usages[kind]
	var w usageFields
	if read == nil || json.Unmarshal(raw, &w) != nil {
		return u, false
	}
	read(&w, &u)
	required := slices.DeleteFunc(slices.Clone(u.Uses), func(use Use) bool { return use.As == AsOptional })
	optional := slices.DeleteFunc(u.Uses, func(use Use) bool { return use.As != AsOptional })
	u.Uses = append(required, optional...)
	return u, true
}

// usages reads the Usage of the kinds that have one.
var usages = map[schema.GroupKind]func(w *usageFields, u *Usage){
	Pod:            (*usageFields).pod,
	VolumeClaim:    func(w *usageFields, u *Usage) { u.add(storageClass, w.Spec.StorageClassName, AsStorageClass) },
	ingress:        func(w *usageFields, u *Usage) { u.add(ingressClass, w.Spec.IngressClassName, AsIngressClass) },
	roleBinding:    (*usageFields).binding,
	clusterBinding: (*usageFields).binding,
	StatefulSet: func(w *usageFields, u *Usage) {
		for _, t := range w.Spec.VolumeClaimTemplates {
			u.ClaimTemplates = append(u.ClaimTemplates, t.Metadata.Name)
		}
	},
	DisruptionBudget: func(w *usageFields, u *Usage) {
		if selector, err := metav1.LabelSelectorAsSelector(w.Spec.Selector); err == nil {
			u.Budget = &Budget{selector, w.Status.DisruptionsAllowed}
		}
	},
}

func (w *usageFields) binding(u *Usage) {
	u.add(schema.GroupKind{Group: rbac, Kind: w.RoleRef.Kind}, w.RoleRef.Name, AsRole)
}

func (w *usageFields) pod(u *Usage) {
	u.Labels, u.Ended = w.Metadata.Labels, w.Status.Phase == "Succeeded" || w.Status.Phase == "Failed"
	for _, c := range w.Status.Conditions {
		u.Ready = u.Ready || c.Type == "Ready" && c.Status == "True" && !u.Ended
	}
	for _, c := range slices.Concat(w.Spec.InitContainers, w.Spec.Containers) {
		for _, all := range c.EnvFrom {
			u.addSources(all.SecretRef, all.ConfigMapRef, AsEnvironment)
		}
		for _, one := range c.Env {
			u.addSources(one.ValueFrom.SecretKeyRef, one.ValueFrom.ConfigMapKeyRef, AsEnvironment)
		}
	}
	for _, v := range w.Spec.Volumes {
		u.addSources(v.Secret, v.ConfigMap, AsVolume)
		for _, s := range v.Projected.Sources {
			u.addSources(s.Secret, s.ConfigMap, AsVolume)
		}
		u.addSources(v.CSI.NodePublishSecretRef, nil, AsVolume)
		u.add(VolumeClaim, v.PersistentVolumeClaim.ClaimName, AsClaim)
	}
	for _, pull := range w.Spec.ImagePullSecrets {
		u.addSources(pull, nil, AsPullSecret)
	}
	u.add(account, w.Spec.ServiceAccountName, AsAccount)
	u.add(priorityClass, w.Spec.PriorityClassName, AsPodClass)
	u.add(runtimeClass, w.Spec.RuntimeClassName, AsPodClass)
}

// addSources adds what is not nil.
func (u *Usage) addSources(ofSecret, ofConfigMap *usedSource, as UsedAs) {
	for i, s := range []*usedSource{ofSecret, ofConfigMap} {
		if s == nil {
			continue
		}
		how := as
		if s.Optional {
			how = AsOptional
		}
		u.add([]schema.GroupKind{secret, configMap}[i], s.Name+s.SecretName, how)
	}
}

func (u *Usage) add(kind schema.GroupKind, name string, as UsedAs) {
	if name != "" {
		u.Uses = append(u.Uses, Use{kind, name, as})
	}
}
