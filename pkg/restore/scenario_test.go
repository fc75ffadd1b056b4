package restore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// scenario is a backup and a cluster in which namespace shop exists.
type scenario struct {
	saved   []string        // manifests, as YAML
	gone    []object.Object // backed up with metadata only
	live    []object.Object
	parts   []Part // further changes of the snapshot
	run     run
	ended   []event.Record
	made    map[types.UID]types.UID
	options restore.Options
}

// run is what a run did.
type run struct {
	mode  plan.Mode
	steps []event.Step
}

// extraTypes are served in addition to those of snapshottest.
var extraTypes = []snapshot.Type{
	namespaced("batch", "v1", "jobs", "Job"), namespaced("batch", "v1", "cronjobs", "CronJob"), namespaced("apps", "v1", "replicasets", "ReplicaSet"),
	namespaced("apps", "v1", "statefulsets", "StatefulSet"), namespaced("apps", "v1", "controllerrevisions", "ControllerRevision"),
	namespaced("example.com", "v1", "widgets", "Widget"), namespaced("", "v1", "services", "Service"), namespaced("", "v1", "serviceaccounts", "ServiceAccount"),
	namespaced("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"), namespaced("", "v1", "resourcequotas", "ResourceQuota"),
	namespaced("", "v1", "endpoints", "Endpoints"), namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
	namespaced("coordination.k8s.io", "v1", "leases", "Lease"),
	clusterScoped(namespaced("", "v1", "persistentvolumes", "PersistentVolume")),
	clusterScoped(namespaced("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")),
}

func namespaced(group, version, resource, kind string) snapshot.Type {
	return snapshot.Type{
		Group: group, Version: version, Resource: resource, Kind: kind, Namespaced: true, Preferred: true,
		Verbs: []string{"create", "delete", "get", "list", "patch", "watch"},
	}
}

func clusterScoped(t snapshot.Type) snapshot.Type {
	t.Namespaced = false
	return t
}

func (s scenario) snapshot() *snapshot.Snapshot {
	var missing []snapshot.Type
	for _, t := range extraTypes {
		if !slices.ContainsFunc(Types(), func(x snapshot.Type) bool { return x.Group == t.Group && x.Kind == t.Kind }) {
			missing = append(missing, t)
		}
	}
	parts := append([]Part{Serving(TypesWithContents()...), Serving(missing...), Listing(Namespace("shop")), Listing(s.live...)}, s.parts...)
	return New(parts...)
}

func (s scenario) backup(t testing.TB) restore.SavedRun {
	t.Helper()
	b := restore.SavedRun{Mode: s.run.mode, Steps: s.run.steps, Results: s.ended, Recreated: s.made}
	manifests := map[types.UID]json.RawMessage{}
	for _, text := range s.saved {
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b.Saved = append(b.Saved, savedOf(t, raw, manifests))
	}
	for i := range s.gone {
		b.Saved = append(b.Saved, savedOf(t, metadataManifest(t, &s.gone[i]), manifests))
	}
	slices.SortFunc(b.Saved, func(x, y event.Saved) int { return x.Object.Compare(y.Object) })
	b.Manifest = func(s event.Saved) (json.RawMessage, error) {
		if raw, ok := manifests[s.Object.UID]; ok {
			return raw, nil
		}
		return nil, errors.New("it is damaged")
	}
	return b
}

func savedOf(t failer, raw json.RawMessage, into map[types.UID]json.RawMessage) event.Saved {
	t.Helper()
	var m struct {
		object.Identity
		Metadata object.Identity
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	o := m.Metadata
	o.APIVersion, o.Kind = m.APIVersion, m.Kind
	into[o.UID] = raw
	return event.Saved{Object: o, ResourceVersion: "1", SHA256: fmt.Sprintf("%x", len(raw))}
}

// failer is implemented by testing.TB and *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
}

// metadataManifest returns a manifest with metadata only.
func metadataManifest(t failer, o *object.Object) json.RawMessage {
	t.Helper()
	metadata := map[string]any{"namespace": o.Namespace, "name": o.Name, "uid": o.UID, "ownerReferences": o.Owners, "finalizers": o.Finalizers}
	if o.Deleted != nil {
		metadata["deletionTimestamp"] = o.Deleted
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": metadata})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func restorationOf(t testing.TB, s scenario) *restore.Restoration {
	t.Helper()
	return restore.New(s.backup(t), s.snapshot(), s.options)
}
