package snapshot

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// ReadWhole returns an object as JSON. Without a UID, it returns nil if there is no such object.
type ReadWhole func(object.Identity) (json.RawMessage, error)

// inventoryReader reads the inventory of the objects of a kind.
type inventoryReader struct {
	controller string
	finalizers []string // the controller acts on objects that have one of them
	read       func(i *Inventory, o *object.Object, raw json.RawMessage, others ReadWhole) error
}

// inventories are the kinds whose controllers delete other objects with them.
var inventories = map[schema.GroupKind]*inventoryReader{
	// argo-cd 3.5: pkg/apis/application/v1alpha1/application_defaults.go
	{Group: "argoproj.io", Kind: "Application"}: {"Argo CD", []string{
		"resources-finalizer.argocd.argoproj.io", "resources-finalizer.argocd.argoproj.io/foreground", "resources-finalizer.argocd.argoproj.io/background",
	}, readApplication},
	{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}: {"Flux", []string{"finalizers.fluxcd.io"}, readKustomization},
	{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}:        {"Flux", []string{"finalizers.fluxcd.io"}, readHelmRelease},
}

// inventoriesByFinalizer are of kinds that users and providers of Crossplane define, so only the finalizer tells
// (claim/reconciler.go; crossplane-runtime: pkg/reconciler/managed/reconciler.go).
var inventoriesByFinalizer = []*inventoryReader{
	{"Crossplane", []string{"finalizer.apiextensions.crossplane.io"}, readClaim},
	{"Crossplane", []string{"finalizer.managedresource.crossplane.io"}, readManagedResource},
}

func readerOf(o *object.Object) *inventoryReader {
	for _, reader := range inventoriesByFinalizer {
		if slices.Contains(o.Finalizers, reader.finalizers[0]) {
			return reader
		}
	}
	return inventories[o.GroupVersionKind().GroupKind()]
}

// InventoryController returns which controller deletes other objects with an object, and an empty string if none is known.
func InventoryController(o *object.Object) string {
	if reader := readerOf(o); reader != nil {
		return reader.controller
	}
	return ""
}

// The annotations with which an object tells the controllers to keep it, the last one the beginning of several, which may
// be labels, too.
const (
	syncOptions    = "argocd.argoproj.io/sync-options"
	resourcePolicy = "helm.sh/resource-policy"
	fluxMarks      = "kustomize.toolkit.fluxcd.io/"
)

// tellsToKeep reports whether an annotation may tell a controller to keep its object.
func tellsToKeep(annotation string) bool {
	return annotation == syncOptions || annotation == resourcePolicy || strings.HasPrefix(annotation, fluxMarks)
}

// releasePrefix begins the names of the Secrets in which Helm stores the revisions of releases (storage.go, makeKey).
const releasePrefix = "sh.helm.release.v1."

// IsHelmRevision reports whether an object is a Secret in which Helm stores a revision of a release.
func IsHelmRevision(i object.Identity) bool {
	return i.APIVersion == "v1" && i.Kind == "Secret" && strings.HasPrefix(i.Name, releasePrefix)
}

// InventoryOf reads the inventory of an object that has an InventoryController. If that fails, it returns the error with an
// inventory that says so. It reads nothing if the controller does not act.
func InventoryOf(o *object.Object, read ReadWhole) (*Inventory, error) {
	reader, out := readerOf(o), UnreadInventory(o, Unreadable)
	if out.Nothing != nil {
		return out, nil
	}
	whole, err := read(o.Identity)
	if err != nil {
		return out, err
	}
	in := &Inventory{Controller: out.Controller, Finalizer: out.Finalizer}
	if err := reader.read(in, o, whole, read); err != nil {
		return out, err
	}
	return in, nil
}

// UnreadInventory returns the inventory of an object that has an InventoryController, as far as it follows from metadata.
func UnreadInventory(o *object.Object, why ErrorClass) *Inventory {
	reader := readerOf(o)
	at := slices.IndexFunc(o.Finalizers, func(f string) bool { return slices.Contains(reader.finalizers, f) })
	if at < 0 {
		return &Inventory{Controller: reader.controller, Nothing: reason.InventoryNotHeld(reader.controller, reader.finalizers[0])}
	}
	return &Inventory{Controller: reader.controller, Finalizer: o.Finalizers[at], Unknown: why}
}

// readApplication follows argo-cd 3.5: controller/appcontroller.go, finalizeApplicationDeletion and shouldBeDeleted.
func readApplication(out *Inventory, o *object.Object, raw json.RawMessage, _ ReadWhole) error {
	var app struct {
		Spec struct {
			Destination struct{ Server, Name string }
			SyncPolicy  struct{ SyncOptions []string }
		}
		Status struct {
			Resources []struct {
				Group, Version, Kind, Namespace, Name string
				RequiresDeletionConfirmation          bool
			}
		}
	}
	if err := json.Unmarshal(raw, &app); err != nil {
		return err
	}
	switch to := cmp.Or(app.Spec.Destination.Server, app.Spec.Destination.Name); to {
	case "https://kubernetes.default.svc", "in-cluster":
	case "":
		return errors.New("it has no destination")
	default:
		out.Nothing = reason.InventoryElsewhere(out.Controller, "cluster "+to)
		return nil
	}
	out.Policy, out.Waits = metav1.DeletePropagationForeground, true
	if strings.HasSuffix(out.Finalizer, "/background") {
		out.Policy = metav1.DeletePropagationBackground
	}
	for _, r := range app.Status.Resources {
		out.list(object.Identity{APIVersion: schema.GroupVersion{Group: r.Group, Version: r.Version}.String(), Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
		out.Unapproved = out.Unapproved || r.RequiresDeletionConfirmation
	}
	for _, hook := range [][2]string{{"PreDelete", "pre-delete-finalizer.argocd.argoproj.io"}, {"PostDelete", "post-delete-finalizer.argocd.argoproj.io"}} {
		if slices.Contains(o.Finalizers, hook[1]) {
			out.Hooks = append(out.Hooks, hook[0])
		}
	}
	const keep = "Delete=false"
	out.keeps = func(of object.Identity, _, annotations map[string]string) *reason.Reason {
		own := optionsIn(annotations[syncOptions])
		all := !slices.ContainsFunc(own, func(option string) bool { return strings.HasPrefix(option, "Delete=") })
		switch {
		case of.IsCRD():
			return reason.DefinitionKept(out.Controller)
		case slices.Contains(own, keep):
			return reason.Of(reason.KeptByMark{Controller: out.Controller, Mark: syncOptions + ": " + keep})
		case all && slices.Contains(app.Spec.SyncPolicy.SyncOptions, keep):
			return reason.Of(reason.KeptByMark{Controller: out.Controller, Mark: "spec.syncPolicy.syncOptions: " + keep})
		case slices.Contains(optionsIn(annotations[resourcePolicy]), "keep"):
			return reason.Of(reason.KeptByMark{Controller: out.Controller, Mark: resourcePolicy + ": keep"})
		}
		return nil
	}
	return nil
}

// optionsIn returns the comma-separated options in an annotation (annotations.go, GetAnnotationCSVs).
func optionsIn(annotation string) []string {
	out := strings.Split(annotation, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// readKustomization follows kustomize-controller 1.9: internal/controller/kustomization_controller.go, finalize and
// deleteObjects; fluxcd/pkg: ssa/manager_delete.go, Delete.
func readKustomization(out *Inventory, o *object.Object, raw json.RawMessage, _ ReadWhole) error {
	var k struct {
		Spec struct {
			Suspend, Prune bool
			DeletionPolicy string
			KubeConfig     json.RawMessage
		}
		Status struct{ Inventory struct{ Entries []entry } }
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return err
	}
	out.Policy = metav1.DeletePropagationBackground
	switch policy := cmp.Or(k.Spec.DeletionPolicy, "MirrorPrune"); {
	case k.Spec.Suspend:
		out.Nothing = reason.InventoryKept(out.Controller, "suspend: true")
	case policy == "MirrorPrune" && !k.Spec.Prune:
		out.Nothing = reason.InventoryKept(out.Controller, "prune: false")
	case !slices.Contains([]string{"MirrorPrune", "Delete", "WaitForTermination"}, policy):
		out.Nothing = reason.InventoryKept(out.Controller, "deletionPolicy: "+policy)
	case isSet(k.Spec.KubeConfig):
		out.Nothing = reason.InventoryElsewhere(out.Controller, "the cluster of its kubeConfig")
	}
	out.keeps = func(_ object.Identity, labels, annotations map[string]string) *reason.Reason {
		for _, mark := range [][2]string{{fluxMarks + "prune", "disabled"}, {fluxMarks + "reconcile", "disabled"}, {fluxMarks + "ssa", "Ignore"}} {
			if labels[mark[0]] == mark[1] || annotations[mark[0]] == mark[1] {
				return reason.Of(reason.KeptByMark{Controller: out.Controller, Mark: mark[0] + ": " + mark[1]})
			}
		}
		if labels[fluxMarks+"name"] != o.Name || labels[fluxMarks+"namespace"] != o.Namespace {
			return reason.KeptForOther(out.Controller, o.Identity)
		}
		return nil
	}
	for _, e := range k.Status.Inventory.Entries {
		listed, err := e.identity()
		if err != nil {
			return err
		}
		out.list(listed)
	}
	return nil
}

// entry is one of status.inventory of Flux.
type entry struct{ ID, V string }

// identity reads namespace_name_group_kind (fluxcd/cli-utils: pkg/object/objmetadata.go, ParseObjMetadata).
func (e entry) identity() (object.Identity, error) {
	namespace, rest, _ := strings.Cut(e.ID, "_")
	parts := strings.Split(rest, "_")
	if len(parts) < 3 {
		return object.Identity{}, fmt.Errorf("entry %q of the inventory is malformed", e.ID)
	}
	last := len(parts) - 1
	name := strings.ReplaceAll(strings.Join(parts[:last-1], "_"), "__", ":")
	version := schema.GroupVersion{Group: parts[last-1], Version: e.V}
	return object.Identity{APIVersion: version.String(), Kind: parts[last], Namespace: namespace, Name: name}, nil
}

// readHelmRelease follows helm-controller 1.6: internal/controller/helmrelease_controller.go, reconcileDelete; helm 4.2:
// pkg/action/uninstall.go, Run. Its status.inventory also lists what Helm never deletes.
func readHelmRelease(out *Inventory, o *object.Object, raw json.RawMessage, others ReadWhole) error {
	type revision struct {
		Name, Namespace string
		Version         int
	}
	var h struct {
		Spec struct {
			Suspend    bool
			KubeConfig json.RawMessage
			Uninstall  struct {
				KeepHistory, DisableHooks bool
				DeletionPropagation       string
			}
		}
		Status struct {
			StorageNamespace, HelmChart string
			History                     []revision
		}
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return err
	}
	switch {
	case h.Spec.Suspend:
		out.Nothing = reason.InventoryKept(out.Controller, "suspend: true")
		return nil
	case isSet(h.Spec.KubeConfig):
		out.Nothing = reason.InventoryElsewhere(out.Controller, "the cluster of its kubeConfig")
		return nil
	}
	if namespace, name, ok := strings.Cut(h.Status.HelmChart, "/"); ok {
		out.list(object.Identity{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "HelmChart", Namespace: namespace, Name: name})
	}
	if h.Status.StorageNamespace == "" || len(h.Status.History) == 0 {
		return nil // not installed
	}
	latest := slices.MaxFunc(h.Status.History, func(a, b revision) int { return cmp.Compare(a.Version, b.Version) })
	key := func(version int) object.Identity {
		return object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: h.Status.StorageNamespace, Name: fmt.Sprintf("%s%s.v%d", releasePrefix, latest.Name, version)}
	}
	stored, err := others(key(latest.Version))
	if err != nil || stored == nil { // or uninstalled by somebody else
		return err
	}
	out.Policy = map[string]metav1.DeletionPropagation{
		"orphan": metav1.DeletePropagationOrphan, "foreground": metav1.DeletePropagationForeground,
	}[h.Spec.Uninstall.DeletionPropagation]
	out.Policy = cmp.Or(out.Policy, metav1.DeletePropagationBackground)
	for version := latest.Version; version > max(0, latest.Version-maxRevisions) && !h.Spec.Uninstall.KeepHistory; version-- {
		out.listed = append(out.listed, Member{Identity: key(version), perhaps: true})
	}
	return out.readRelease(stored, !h.Spec.Uninstall.DisableHooks)
}

const (
	maxRevisions = 1000     // of a Helm release
	maxRelease   = 64 << 20 // unpacked
	maxLists     = 2        // in each other, in a manifest; kubectl nests none
)

// readRelease adds what Helm deletes with a release, by the Secret of its latest revision (helm 3.19 and 4.2:
// pkg/storage/driver/util.go, decodeRelease; pkg/action/resource_policy.go, filterManifestsToKeep).
func (i *Inventory) readRelease(secret json.RawMessage, hooks bool) error {
	var stored struct{ Data struct{ Release []byte } }
	if err := json.Unmarshal(secret, &stored); err != nil {
		return err
	}
	unpacked, err := input.Gunzip(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(stored.Data.Release)))
	if err != nil {
		return err
	}
	text, err := input.ReadAll(unpacked, maxRelease)
	if err != nil {
		return err
	}
	var release struct {
		Namespace, Manifest string
		Hooks               []struct {
			Kind, Name string
			Events     []string
		}
	}
	if err := json.Unmarshal(text, &release); err != nil {
		return err
	}
	for _, h := range release.Hooks {
		if hooks && (slices.Contains(h.Events, "pre-delete") || slices.Contains(h.Events, "post-delete")) {
			i.Hooks = append(i.Hooks, h.Kind+"/"+h.Name)
		}
	}
	for document := range input.SplitYAML([]byte(release.Manifest)) {
		converted, err := input.YAMLToJSON(document)
		if err != nil {
			return err
		}
		if err := i.listManifest(converted, release.Namespace, maxLists); err != nil {
			return err
		}
	}
	return nil
}

// listManifest adds the object of a manifest, or those of a list, in which there may be so many lists.
func (i *Inventory) listManifest(manifest json.RawMessage, namespace string, lists int) error {
	var of struct {
		metav1.TypeMeta
		Metadata struct {
			Namespace, Name string
			Annotations     map[string]string
		}
		Items []json.RawMessage
	}
	if err := json.Unmarshal(manifest, &of); err != nil {
		return err
	}
	if strings.HasSuffix(of.Kind, "List") && of.Metadata.Name == "" && lists > 0 {
		for _, item := range of.Items {
			if err := i.listManifest(item, namespace, lists-1); err != nil {
				return err
			}
		}
		return nil
	}
	if of.Kind == "" || of.Metadata.Name == "" { // comments alone, or null
		return nil
	}
	m := Member{Identity: object.Identity{APIVersion: of.APIVersion, Kind: of.Kind, Namespace: cmp.Or(of.Metadata.Namespace, namespace), Name: of.Metadata.Name}}
	if policy, set := of.Metadata.Annotations[resourcePolicy]; set { // any other policy keeps it, too
		m.Kept = reason.Of(reason.KeptByMark{Controller: "Helm", Mark: resourcePolicy + ": " + policy})
	}
	i.listed = append(i.listed, m)
	return nil
}

// readClaim follows crossplane 2.4: internal/controller/apiextensions/claim/reconciler.go, Reconcile.
func readClaim(out *Inventory, _ *object.Object, raw json.RawMessage, _ ReadWhole) error {
	var claim struct {
		Spec struct {
			ResourceRef           struct{ APIVersion, Kind, Name string }
			CompositeDeletePolicy string
		}
	}
	if err := json.Unmarshal(raw, &claim); err != nil {
		return err
	}
	out.Policy = metav1.DeletePropagationBackground
	if out.Waits = claim.Spec.CompositeDeletePolicy == "Foreground"; out.Waits {
		out.Policy = metav1.DeletePropagationForeground
	}
	if composite := claim.Spec.ResourceRef; composite.Name != "" {
		out.list(object.Identity{APIVersion: composite.APIVersion, Kind: composite.Kind, Name: composite.Name})
	}
	return nil
}

// readManagedResource follows crossplane-runtime 2: pkg/reconciler/managed/policies.go, ShouldDelete. What it lists is outside
// of the cluster.
func readManagedResource(out *Inventory, _ *object.Object, raw json.RawMessage, _ ReadWhole) error {
	var managed struct {
		Spec struct {
			DeletionPolicy     string
			ManagementPolicies []string // the API server sets *
		}
	}
	if err := json.Unmarshal(raw, &managed); err != nil {
		return err
	}
	policies := managed.Spec.ManagementPolicies
	all := policies == nil || slices.Equal(policies, []string{"*"})
	switch {
	case all && managed.Spec.DeletionPolicy == "Orphan":
		out.Nothing = reason.ExternalKept("deletionPolicy: Orphan")
	case all || slices.Contains(policies, "Delete"), managed.Spec.DeletionPolicy != "Orphan" && slices.Contains(policies, "*"):
		out.Nothing = reason.ExternalDeleted
	default:
		out.Nothing = reason.ExternalKept("managementPolicies: [" + strings.Join(policies, ", ") + "]")
	}
	return nil
}

func (i *Inventory) list(o object.Identity) {
	i.listed = append(i.listed, Member{Identity: o})
}

// isSet reports whether a field that is an object is there.
func isSet(field json.RawMessage) bool { return len(field) > 0 && string(field) != "null" }
