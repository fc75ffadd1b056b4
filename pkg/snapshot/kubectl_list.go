package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// kubectlList collects the objects in the output of `kubectl get -o json|yaml`.
//
// Such a file has no discovery data: the types of its objects count as listed, all others as
// a gap, and the newest version of a type as the preferred one. Objects that kubectl left
// out because of a name, selector or namespace on its command line look absent.
type kubectlList struct {
	objects Deduper
	types   map[schema.GroupVersionKind]*Type
}

type kubectlObject struct {
	header
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     json.RawMessage   `json:"spec"` // Spec, Status and Items may be any JSON, depending on the kind
	Status   json.RawMessage   `json:"status"`
	Items    json.RawMessage   `json:"items"`
}

func (l *kubectlList) add(document []byte) error {
	return l.addItem(document, header{}, 0)
}

// maxDepth limits nested lists, as each level is parsed once more. kubectl nests none.
const maxDepth = 4

// addItem adds an object, or the items of a list. defaults is the item type of a typed
// list; depth is the number of lists around the item.
func (l *kubectlList) addItem(document []byte, defaults header, depth int) error {
	var o kubectlObject
	if err := json.Unmarshal(document, &o); err != nil {
		return explain(document, err)
	}
	if o.APIVersion == "" && o.Kind == "" {
		o.header = defaults
	}
	if item, isList := strings.CutSuffix(o.Kind, "List"); isList && o.Metadata.Name == "" {
		if depth == maxDepth {
			return fmt.Errorf("there are more than %d lists in each other", maxDepth)
		}
		return l.addItems(o.Items, header{APIVersion: o.APIVersion, Kind: item}, depth+1)
	}
	if o.Kind == "" || o.APIVersion == "" || o.Metadata.Name == "" {
		return fmt.Errorf("an item of the list lacks its apiVersion, kind or name")
	}
	if o.Metadata.UID == "" {
		return fmt.Errorf("%q has no uid: the file is a manifest, not what kubectl get reads from a cluster", o.Kind+"/"+o.Metadata.Name)
	}
	for _, t := range []*metav1.Time{&o.Metadata.CreationTimestamp, o.Metadata.DeletionTimestamp} {
		if t != nil && (t.UTC().Year() < 0 || t.UTC().Year() > 9999) {
			return fmt.Errorf("%q has a timestamp that no cluster writes", o.Kind+"/"+o.Metadata.Name)
		}
	}
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	if l.types == nil {
		l.types = map[schema.GroupVersionKind]*Type{}
	}
	t, ok := l.types[gvk]
	if !ok {
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		t = &Type{
			Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: plural.Resource, Singular: singular.Resource,
			ShortNames: shortNames[gvk.Kind], Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true,
		}
		l.types[gvk] = t
	}
	t.Namespaced = t.Namespaced || o.Metadata.Namespace != ""
	if t.Monitored() { // a scan lists no other types (docs/gc-semantics.md#monitored-types)
		added := object.FromMeta(o.APIVersion, o.Kind, &o.Metadata, true)
		added.Running = o.running()
		added.Claims = object.ClaimsOf(added.Identity, o.Spec, o.Status)
		added.Storage = object.StorageOf(added.Identity, o.Spec, o.Status)
		if added.Terminating() && added.IsNamespace() {
			added.NamespaceStatus = object.NamespaceStatusOf(o.Spec, o.Status)
		}
		if added.Kind == "Pod" && added.APIVersion == "v1" && added.InGracePeriod() {
			added.Node = object.PodNodeOf(o.Spec)
		}
		l.objects.Add(&added)
	}
	return nil
}

// running reports whether the object is a Pod that a kubelet has to stop before it is
// deleted (docs/gc-semantics.md#graceful-pods).
func (o *kubectlObject) running() bool {
	if o.APIVersion != "v1" || o.Kind != "Pod" || o.Metadata.DeletionTimestamp != nil {
		return false
	}
	var spec struct{ NodeName string }
	var status struct{ Phase string }
	_, _ = json.Unmarshal(o.Spec, &spec), json.Unmarshal(o.Status, &status) // a malformed Pod is not running
	return spec.NodeName != "" && status.Phase != "Succeeded" && status.Phase != "Failed"
}

func (l *kubectlList) addItems(list json.RawMessage, defaults header, depth int) error {
	if list == nil {
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return explain(list, err)
	}
	for _, item := range items {
		if err := l.addItem(item, defaults, depth); err != nil {
			return err
		}
	}
	return nil
}

// shortNames are those of the built-in kinds, as the file has no discovery data.
var shortNames = map[string][]string{
	"ConfigMap": {"cm"}, "CronJob": {"cj"}, "CustomResourceDefinition": {"crd"}, "DaemonSet": {"ds"},
	"Deployment": {"deploy"}, "Endpoints": {"ep"}, "HorizontalPodAutoscaler": {"hpa"}, "Ingress": {"ing"},
	"Namespace": {"ns"}, "NetworkPolicy": {"netpol"}, "Node": {"no"}, "PersistentVolume": {"pv"},
	"PersistentVolumeClaim": {"pvc"}, "Pod": {"po"}, "PodDisruptionBudget": {"pdb"}, "PriorityClass": {"pc"},
	"ReplicaSet": {"rs"}, "ReplicationController": {"rc"}, "ResourceQuota": {"quota"}, "Service": {"svc"},
	"ServiceAccount": {"sa"}, "StatefulSet": {"sts"}, "StorageClass": {"sc"},
}

func (l *kubectlList) snapshot(now time.Time) *Snapshot {
	s := &Snapshot{
		Taken:   now,
		Objects: l.objects.Objects(),
		Gaps: []Gap{{
			Group: All, Resource: All, Reason: NotInFile,
			Message: "a kubectl list holds only what was asked for",
		}},
	}
	newest := map[schema.GroupResource]string{}
	for _, t := range l.types {
		if other, ok := newest[t.GroupResource()]; !ok || version.CompareKubeAwareVersionStrings(t.Version, other) > 0 {
			newest[t.GroupResource()] = t.Version
		}
	}
	for _, t := range l.types {
		t.Preferred = t.Version == newest[t.GroupResource()]
		s.Types = append(s.Types, *t)
		if t.Monitored() {
			s.Listed = append(s.Listed, Listing{Group: t.Group, Resource: t.Resource})
		}
	}
	s.Normalize()
	s.Listed = slices.Compact(s.Listed)
	return s
}
