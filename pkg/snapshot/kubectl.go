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

// kubectlList gathers the objects of what `kubectl get -o json|yaml` wrote.
//
// Such a file knows no discovery: the types it holds count as listed, all
// others as a gap, and the newest version of a type as the preferred one. What
// it leaves out of a type it holds (by a name, a
// selector or a namespace on the command line) cannot be told from absence.
type kubectlList struct {
	objects Deduper
	types   map[schema.GroupVersionKind]*Type
}

type kubectlObject struct {
	header
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     json.RawMessage   `json:"spec"`   // of any shape where the kind is not Pod
	Status   json.RawMessage   `json:"status"` // likewise
	Items    json.RawMessage   `json:"items"`  // a list only where the kind is one
}

func (l *kubectlList) add(document []byte) error {
	return l.addItem(document, header{}, 0)
}

// deepest is how many lists may be in each other: each is read once more than the one
// that it is in, and kubectl writes none.
const deepest = 4

// addItem adds an object, or the items of a list. Of is what a typed list says its
// items are; deep is how many lists it is in.
func (l *kubectlList) addItem(document []byte, of header, deep int) error {
	var o kubectlObject
	if err := json.Unmarshal(document, &o); err != nil {
		return explain(document, err)
	}
	if o.APIVersion == "" && o.Kind == "" {
		o.header = of
	}
	if item, isList := strings.CutSuffix(o.Kind, "List"); isList && o.Metadata.Name == "" {
		if deep == deepest {
			return fmt.Errorf("there are more than %d lists in each other", deepest)
		}
		return l.addItems(o.Items, header{APIVersion: o.APIVersion, Kind: item}, deep+1)
	}
	if o.Kind == "" || o.APIVersion == "" || o.Metadata.Name == "" {
		return fmt.Errorf("an item of the list lacks its apiVersion, kind or name")
	}
	if o.Metadata.UID == "" {
		return fmt.Errorf("%q has no uid: the file is a manifest, not what kubectl get reads from a cluster", o.Kind+"/"+o.Metadata.Name)
	}
	for _, at := range []*metav1.Time{&o.Metadata.CreationTimestamp, o.Metadata.DeletionTimestamp} {
		if at != nil && (at.UTC().Year() < 0 || at.UTC().Year() > 9999) {
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
	if t.Monitored() { // the collector lists no other (docs/gc-semantics.md#monitored-types)
		seen := object.FromMeta(o.APIVersion, o.Kind, &o.Metadata, true)
		seen.Running = o.running()
		seen.Claims = object.ClaimsOf(seen.Identity, o.Spec, o.Status)
		l.objects.Add(&seen)
	}
	return nil
}

// running says whether a kubelet would have to stop the object
// (docs/gc-semantics.md#graceful-pods).
func (o *kubectlObject) running() bool {
	if o.APIVersion != "v1" || o.Kind != "Pod" || o.Metadata.DeletionTimestamp != nil {
		return false
	}
	var spec struct{ NodeName string }
	var status struct{ Phase string }
	// What is no Pod within runs nowhere.
	_, _ = json.Unmarshal(o.Spec, &spec), json.Unmarshal(o.Status, &status)
	return spec.NodeName != "" && status.Phase != "Succeeded" && status.Phase != "Failed"
}

func (l *kubectlList) addItems(list json.RawMessage, of header, deep int) error {
	if list == nil {
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return explain(list, err)
	}
	for _, item := range items {
		if err := l.addItem(item, of, deep); err != nil {
			return err
		}
	}
	return nil
}

// shortNames are those of built-in kinds, which only discovery could tell.
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
		if known, ok := newest[t.GroupResource()]; !ok || version.CompareKubeAwareVersionStrings(t.Version, known) > 0 {
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
	s.Sort()
	s.Listed = slices.Compact(s.Listed)
	return s
}
