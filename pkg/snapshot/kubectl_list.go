package snapshot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// kubectlList collects the objects in the output of `kubectl get -o json|yaml`.
//
// Such a file has no discovery data: its types are those of its objects and those that its
// CustomResourceDefinitions define, and the newest version of a type is the preferred one. No
// type counts as listed, as a name, selector or namespace on kubectl's command line leaves no
// trace in the file.
type kubectlList struct {
	objects      Deduper
	types        map[schema.GroupVersionKind]*Type
	definitions  map[schema.GroupKind][]Type // the served versions that a CustomResourceDefinition defines
	nodes        map[string]object.PodNode   // by name
	callers      []Caller
	managers     map[types.UID]reason.ManagedBy
	usages       map[types.UID]object.Usage
	applications []*object.Object                    // those that have an inventory
	whole        map[object.Identity]json.RawMessage // these, and the Secrets of Helm without UIDs
	annotations  map[types.UID]map[string]string     // those that tell the controllers of inventories to keep an object
	leftOut      int                                 // documents that are not an object of a cluster
	firstLeftOut error
}

type kubectlObject struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     json.RawMessage   `json:"spec"` // Spec, Status and Items may be any JSON, depending on the kind
	Status   json.RawMessage   `json:"status"`
	Items    json.RawMessage   `json:"items"`
}

// add adds an object, or the items of a list or of an array, as support bundles have them, and
// counts what is neither. defaults is the item type of a typed list; depth is the number of lists
// around the item.
func (l *kubectlList) add(item []byte, defaults metav1.TypeMeta, depth int) {
	if err := l.addItem(item, defaults, depth); err != nil {
		l.leaveOut(err)
	}
}

func (l *kubectlList) leaveOut(why error) {
	if l.leftOut++; l.leftOut == 1 {
		l.firstLeftOut = why
	}
}

var errNeither = errors.New("neither a snapshot nor what kubectl get -o json|yaml writes: it lacks its apiVersion, kind or name")

// maxDepth limits nested lists, as each level is parsed once more. kubectl nests none.
const maxDepth = 4

func (l *kubectlList) addItem(document []byte, defaults metav1.TypeMeta, depth int) error {
	switch document[0] {
	case '[':
		return l.addItems(document, metav1.TypeMeta{}, depth+1)
	case '{':
	default:
		return errNeither
	}
	var o kubectlObject
	if err := json.Unmarshal(document, &o); err != nil {
		return explain(document, err)
	}
	if o.APIVersion == "" && o.Kind == "" {
		o.TypeMeta = defaults
	}
	if item, isList := strings.CutSuffix(o.Kind, "List"); isList && o.Metadata.Name == "" {
		return l.addItems(o.Items, metav1.TypeMeta{APIVersion: o.APIVersion, Kind: item}, depth+1)
	}
	if o.Kind == "" || o.APIVersion == "" || o.Metadata.Name == "" {
		return errNeither
	}
	if o.Metadata.UID == "" {
		return fmt.Errorf("%q has no uid: it is a manifest, not what kubectl get reads from a cluster", o.Kind+"/"+o.Metadata.Name)
	}
	for _, t := range []*metav1.Time{&o.Metadata.CreationTimestamp, o.Metadata.DeletionTimestamp} {
		if t != nil && (t.UTC().Year() < 0 || t.UTC().Year() > 9999) {
			return fmt.Errorf("%q has a timestamp that no cluster writes", o.Kind+"/"+o.Metadata.Name)
		}
	}
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	if l.types == nil {
		l.types, l.definitions, l.nodes = map[schema.GroupVersionKind]*Type{}, map[schema.GroupKind][]Type{}, map[string]object.PodNode{}
		l.managers, l.usages = map[types.UID]reason.ManagedBy{}, map[types.UID]object.Usage{}
		l.whole, l.annotations = map[object.Identity]json.RawMessage{}, map[types.UID]map[string]string{}
	}
	t, ok := l.types[gvk]
	if !ok {
		t = GuessType(gvk)
		l.types[gvk] = t
	}
	t.Namespaced = t.Namespaced || o.Metadata.Namespace != ""
	if t.Monitored() { // a scan lists no other types (docs/gc-semantics.md#monitored-types)
		added := object.FromMeta(o.APIVersion, o.Kind, &o.Metadata, true)
		added.Claims, added.Storage = object.StorageOf(added.Identity, o.Spec, o.Status)
		added.Lifecycle = object.LifecycleOf(added.Identity, document)
		if added.Terminating() && added.IsNamespace() {
			added.NamespaceStatus = object.NamespaceStatusOf(o.Spec, o.Status)
		} else if conditions := object.ConditionsOf(o.Status); added.Terminating() && len(conditions) > 0 {
			added.Status = &object.DeletionStatus{Conditions: conditions}
		}
		switch {
		case added.IsPod():
			added.Node = object.PodNodeOf(o.Spec)
			ended := added.Lifecycle != nil && added.Lifecycle.Ended != "" // a malformed Pod is like a running one
			added.Running = added.Node != nil && !added.Terminating() && !ended
		case added.IsCRD():
			if served := DefinedTypes(added.Name, o.Spec, allVerbs); len(served) > 0 {
				l.definitions[schema.GroupKind{Group: served[0].Group, Kind: served[0].Kind}] = served
			}
		case added.IsNode():
			state, since := object.NodeStateOf(o.Status)
			l.nodes[added.Name] = object.PodNode{Name: added.Name, State: state, Since: since}
		}
		if slices.Contains(groupsOfCallers, gvk.Group) {
			var c Caller
			if err := json.Unmarshal(document, &c); err != nil && strings.HasSuffix(o.Kind, "WebhookConfiguration") {
				return explain(document, err)
			}
			c.APIVersion, c.Kind = o.APIVersion, o.Kind
			l.callers = append(l.callers, c)
		}
		if by, managed := reason.ManagerOf(&added, o.Metadata.Labels, o.Metadata.Annotations); managed {
			l.managers[added.UID] = by
		}
		if u, ok := object.UsageOf(added.Identity, document); ok {
			l.usages[added.UID] = u
		}
		l.addInventory(&added, document, o.Metadata.Annotations)
		l.objects.Add(&added)
	}
	return nil
}

func (l *kubectlList) addItems(list json.RawMessage, defaults metav1.TypeMeta, depth int) error {
	if list == nil {
		return nil
	}
	if depth > maxDepth {
		return fmt.Errorf("there are more than %d lists in each other", maxDepth)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return explain(list, err)
	}
	for _, item := range items {
		l.add(item, defaults, depth)
	}
	return nil
}

// allVerbs are those of a type that the collector watches.
var allVerbs = []string{"delete", "get", "list", "watch"}

// GuessType returns a type as most clusters serve it, cluster-scoped.
func GuessType(gvk schema.GroupVersionKind) *Type {
	plural, singular := meta.UnsafeGuessKindToResource(gvk) // wrong for Gateway, Mesh, Elasticsearch and Box
	for ending, of := range endings {
		if of.MatchString(singular.Resource) {
			plural.Resource = singular.Resource + ending
		}
	}
	return &Type{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Resource: plural.Resource, Singular: singular.Resource,
		ShortNames: shortNames[gvk.Kind], Verbs: allVerbs, Preferred: true,
	}
}

var endings = map[string]*regexp.Regexp{"s": regexp.MustCompile(`[aeiou]y$`), "es": regexp.MustCompile(`(ch|sh|x)$`)}

// DefinedTypes returns the types that a CustomResourceDefinition with that name and spec serves, the
// preferred one first; none if it is not valid.
func DefinedTypes(name string, spec json.RawMessage, verbs []string) []Type {
	var d struct {
		Group, Scope string
		Names        struct {
			Type
			Plural string
		}
		Versions []struct {
			Name   string
			Served bool
		}
	}
	if json.Unmarshal(spec, &d) != nil || d.Names.Kind == "" || d.Group == "" || name != d.Names.Plural+"."+d.Group {
		return nil
	}
	t := d.Names.Type
	t.Group, t.Resource, t.Namespaced, t.Verbs = d.Group, d.Names.Plural, d.Scope == "Namespaced", verbs
	var served []Type
	for _, v := range d.Versions {
		if t.Version = v.Name; v.Served && v.Name != "" {
			served = append(served, t)
		}
	}
	slices.SortFunc(served, func(a, b Type) int {
		return cmp.Or(version.CompareKubeAwareVersionStrings(b.Version, a.Version), a.Compare(b))
	})
	if len(served) > 0 {
		served[0].Preferred = true
	}
	return served
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

// The messages of the gap of a file that kubectl wrote.
const (
	mayLackObjects = "the file may lack objects, so an owner that is not in it counts as unknown. If it has all objects of each of its types, add --complete"
	lacksTypes     = "the file has all objects of its types, as --complete says. Objects that are owned by an object of another type were not checked"
)

// snapshot returns what was added. If it is complete, its objects are all that there are of their types.
func (l *kubectlList) snapshot(now time.Time, complete bool) *Snapshot {
	gap := Gap{Group: All, Resource: All, Reason: NotInFile, Message: mayLackObjects}
	s := &Snapshot{Taken: now, Objects: l.objects.Objects(), LeftOut: l.leftOut, FirstLeftOut: l.firstLeftOut, Managers: l.managers, Usages: l.usages}
	for _, served := range l.definitions {
		s.Types = append(s.Types, served...)
	}
	for gvk, t := range l.types {
		served := l.definitions[gvk.GroupKind()]
		if len(served) > 0 {
			t.Resource = served[0].Resource
		}
		if !slices.ContainsFunc(served, func(d Type) bool { return d.Version == t.Version }) {
			s.Types = append(s.Types, *t)
		}
		if complete && t.Monitored() {
			gap.Message = lacksTypes
			s.Listed = append(s.Listed, Listing{Group: t.Group, Resource: t.Resource})
		}
	}
	s.Gaps = []Gap{gap}
	services := map[ServiceReference]bool{}
	for _, o := range s.Objects {
		if o.Kind == "Service" && o.APIVersion == "v1" {
			services[ServiceReference{o.Namespace, o.Name}] = true
		}
		if o.Node == nil {
			continue
		}
		if node, ok := l.nodes[o.Node.Name]; ok {
			*o.Node = node
		} else if complete && len(l.nodes) > 0 {
			o.Node.State = object.NodeAbsent
		}
	}
	s.Backends = []reason.BackendLost{}
	for _, c := range l.callers {
		s.Backends = append(s.Backends, c.Backends()...)
		s.Webhooks = append(s.Webhooks, c.WithoutBackend(func(of ServiceReference) reason.BackendState {
			if complete && len(services) > 0 && !services[of] {
				return reason.BackendMissing
			}
			return reason.BackendUnknown
		})...)
	}
	newest := map[schema.GroupResource]string{}
	for _, t := range s.Types {
		if other, ok := newest[t.GroupResource()]; !ok || version.CompareKubeAwareVersionStrings(t.Version, other) > 0 {
			newest[t.GroupResource()] = t.Version
		}
	}
	for i, t := range s.Types {
		s.Types[i].Preferred = t.Version == newest[t.GroupResource()]
	}
	s.Normalize()
	s.Listed = slices.Compact(s.Listed)
	return l.withInventories(s)
}

var errNotInFile = errors.New("it is not in the file")

// addInventory keeps what withInventories needs of an object.
func (l *kubectlList) addInventory(o *object.Object, whole json.RawMessage, annotations map[string]string) {
	if InventoryController(o) != "" {
		l.applications, l.whole[o.Identity] = append(l.applications, o), whole
	}
	if IsHelmRevision(o.Identity) { // a HelmRelease does not know the UID
		l.whole[object.Identity{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}] = whole
	}
	for key, value := range annotations {
		if tellsToKeep(key) {
			if l.annotations[o.UID] == nil {
				l.annotations[o.UID] = map[string]string{}
			}
			l.annotations[o.UID][key] = value
		}
	}
}

// withInventories returns a snapshot with the inventories that the file has.
func (l *kubectlList) withInventories(s *Snapshot) *Snapshot {
	read := map[types.UID]*Inventory{}
	for _, o := range l.applications {
		inventory, err := InventoryOf(o, func(i object.Identity) (json.RawMessage, error) {
			if whole, known := l.whole[i]; known {
				return whole, nil
			}
			return nil, errNotInFile
		})
		if errors.Is(err, errNotInFile) {
			inventory.Unknown = NotInFile
		}
		read[o.UID] = inventory
	}
	if len(read) == 0 {
		return s
	}
	s = s.WithInventories(read)
	labels := map[types.UID]map[string]string{}
	for _, o := range s.Objects {
		labels[o.UID] = o.Labels
	}
	for _, inventory := range read {
		for i := range inventory.Members {
			if m := &inventory.Members[i]; inventory.DependsOnMarks() {
				inventory.Mark(m, labels[m.UID], l.annotations[m.UID])
			}
		}
	}
	return s
}
