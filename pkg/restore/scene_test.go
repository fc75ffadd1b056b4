package restore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// scene is a backup and a cluster. Namespace shop is there.
type scene struct {
	saved   []string        // manifests, as YAML
	gone    []object.Object // what is saved as bare metadata
	there   []object.Object
	parts   []Part // further changes of the look
	run     *plan.Plan
	ended   []restore.Ended
	made    map[types.UID]types.UID
	options restore.Options
}

// served are types beside those that snapshottest has.
var served = []snapshot.Type{
	of("batch", "v1", "jobs", "Job"), of("batch", "v1", "cronjobs", "CronJob"), of("apps", "v1", "replicasets", "ReplicaSet"),
	of("apps", "v1", "statefulsets", "StatefulSet"), of("apps", "v1", "controllerrevisions", "ControllerRevision"),
	of("example.com", "v1", "widgets", "Widget"), of("", "v1", "services", "Service"), of("", "v1", "serviceaccounts", "ServiceAccount"),
	of("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"), of("", "v1", "resourcequotas", "ResourceQuota"),
	of("", "v1", "endpoints", "Endpoints"), of("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
	of("coordination.k8s.io", "v1", "leases", "Lease"),
	everywhere(of("", "v1", "persistentvolumes", "PersistentVolume")),
	everywhere(of("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration")),
}

func of(group, version, resource, kind string) snapshot.Type {
	return snapshot.Type{
		Group: group, Version: version, Resource: resource, Kind: kind, Namespaced: true, Preferred: true,
		Verbs: []string{"create", "delete", "get", "list", "patch", "watch"},
	}
}

func everywhere(t snapshot.Type) snapshot.Type {
	t.Namespaced = false
	return t
}

func (s scene) look() *snapshot.Snapshot {
	var missing []snapshot.Type
	for _, t := range served {
		if !slices.ContainsFunc(Types(), func(has snapshot.Type) bool { return has.Group == t.Group && has.Kind == t.Kind }) {
			missing = append(missing, t)
		}
	}
	parts := append([]Part{Serving(Containers()...), Serving(missing...), Listing(Namespace("shop")), Listing(s.there...)}, s.parts...)
	return New(parts...)
}

func (s scene) backup(t testing.TB) restore.Backup {
	t.Helper()
	b := restore.Backup{Plan: s.run, Ended: s.ended, Made: s.made}
	manifests := map[types.UID]json.RawMessage{}
	for _, text := range s.saved {
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b.Saved = append(b.Saved, saved(t, raw, manifests))
	}
	for i := range s.gone {
		b.Saved = append(b.Saved, saved(t, bare(t, &s.gone[i]), manifests))
	}
	slices.SortFunc(b.Saved, func(x, y restore.Saved) int { return x.Object.Compare(y.Object) })
	b.Manifest = func(of restore.Saved) (json.RawMessage, error) {
		if raw, ok := manifests[of.Object.UID]; ok {
			return raw, nil
		}
		return nil, fmt.Errorf("it is damaged")
	}
	return b
}

func saved(t failing, raw json.RawMessage, into map[types.UID]json.RawMessage) restore.Saved {
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
	return restore.Saved{Object: o, ResourceVersion: "1", SHA256: fmt.Sprintf("%x", len(raw))}
}

// failing is a test, a random one too.
type failing interface {
	Helper()
	Fatal(...any)
}

// bare is a manifest with nothing but metadata.
func bare(t failing, o *object.Object) json.RawMessage {
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

func planned(t testing.TB, s scene) *restore.Restoration {
	t.Helper()
	return restore.New(s.backup(t), s.look(), s.options)
}
