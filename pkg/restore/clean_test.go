package restore_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// cleaned returns the body that creates the only object of a backup, and what is lost
// in addition to what every object loses.
func cleaned(t *testing.T, s scenario) (map[string]any, []string) {
	t.Helper()
	r := restorationOf(t, s)
	if len(r.Plan.Steps) == 0 {
		t.Fatalf("no steps: %+v", r.Plan.Kept)
	}
	body, err := r.Body(&r.Plan.Steps[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	var lost []string
	for _, l := range r.Plan.Lost[1:] {
		lost = append(lost, l.Reason.Message())
	}
	return out, lost
}

func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = utiljson.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBody(t *testing.T) {
	tests := map[string]struct {
		saved, want string
		live        []object.Object
		parts       []Part
		lost        string // a substring; empty: nothing is lost
	}{
		"removes server-set fields and keeps finalizers of other controllers": {
			saved: `
apiVersion: v1
kind: ConfigMap
metadata:
  {name: a, namespace: shop, uid: u, resourceVersion: "7", generation: 2, creationTimestamp: "2026-01-01T00:00:00Z", selfLink: /x,
   labels: {app: web}, annotations: {note: kept}, managedFields: [{manager: kubectl}],
   finalizers: [foregroundDeletion, example.com/hold, orphan]}
data: {key: value}`,
			want: `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop, labels: {app: web}, annotations: {note: kept}, finalizers: [example.com/hold]}
data: {key: value}`,
		},
		"keeps large integers": {
			saved: `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: a, namespace: shop, uid: u}, revision: 9007199254740993}`,
			want:  `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: a, namespace: shop}, revision: 9007199254740993}`,
		},
		"removes the status of a built-in kind": {
			saved: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop, uid: u}, spec: {replicas: 1}, status: {replicas: 1}}`,
			want:  `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop}, spec: {replicas: 1}}`,
		},
		"keeps the status of a custom resource": {
			saved: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop, uid: u}, status: {written: by hand}}`,
			want:  `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop}, status: {written: by hand}}`,
		},
		"makes the scheduler place a Pod again": {
			saved: `
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop, uid: u, finalizers: [batch.kubernetes.io/job-tracking]}
spec: {nodeName: n1, priority: 7, priorityClassName: high, containers: [{name: main}], ephemeralContainers: [{name: debug}]}
status: {phase: Running}`,
			want: `
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec: {priorityClassName: high, containers: [{name: main}]}`,
			lost: "Pods start again",
		},
		"keeps the selector of an unfinished Job": {
			saved: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, uid: u}
spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u}}}}
status: {active: 1, conditions: [{type: Complete, status: "False"}]}`,
			want: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop}
spec: {manualSelector: true, selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u}}}}`,
			lost: "count their Pods from zero",
		},
		"suspends a finished Job and removes its selector": {
			saved: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, uid: u, labels: {controller-uid: u, job-name: a}}
spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u, controller-uid: u, job-name: a}}}}
status: {conditions: [{type: Complete, status: "True"}]}`,
			want: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, labels: {job-name: a}}
spec: {suspend: true, template: {metadata: {labels: {job-name: a}}}}`,
			lost: "created suspended",
		},
		"keeps the manual selector of a failed Job": {
			saved: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, uid: u}
spec: {manualSelector: true, selector: {matchLabels: {app: a}}, template: {}}
status: {conditions: [{type: Failed, status: "True"}]}`,
			want: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop}
spec: {manualSelector: true, suspend: true, selector: {matchLabels: {app: a}}, template: {}}`,
			lost: "created suspended",
		},
		"keeps the addresses of a Service": {
			saved: `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop, uid: u}, spec: {clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7], ports: [{port: 80, nodePort: 30080}]}, status: {loadBalancer: {}}}`,
			want:  `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}, spec: {clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7], ports: [{port: 80, nodePort: 30080}]}}`,
			lost:  "the Service gets another",
		},
		"loses nothing of a headless Service": {
			saved: `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop, uid: u}, spec: {clusterIP: None, ports: [{port: 80}]}}`,
			want:  `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}, spec: {clusterIP: None, ports: [{port: 80}]}}`,
		},
		"removes the name of a volume that does not exist from a claim": {
			saved: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, namespace: shop, uid: u, finalizers: [kubernetes.io/pvc-protection], annotations:
  {pv.kubernetes.io/bind-completed: "yes", pv.kubernetes.io/bound-by-controller: "yes", volume.kubernetes.io/selected-node: n1, mine: kept}}
spec: {volumeName: pv-1, storageClassName: fast}
status: {phase: Bound}`,
			want: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, namespace: shop, annotations: {mine: kept}}
spec: {storageClassName: fast}`,
			lost: "data on volumes that are gone",
		},
		"keeps the name of an existing volume in a claim": {
			saved: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop, uid: u}, spec: {volumeName: pv-1}}`,
			want:  `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop}, spec: {volumeName: pv-1}}`,
			live:  []object.Object{Object("v1", "PersistentVolume", "pv-1")},
			lost:  "PersistentVolume/pv-1 still names the UID of its old claim",
		},
		"keeps the name of an unverified volume in a claim": {
			saved: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop, uid: u}, spec: {volumeName: pv-1}}`,
			want:  `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop}, spec: {volumeName: pv-1}}`,
			parts: []Part{Unreadable("persistentvolumes", snapshot.Forbidden)},
			lost:  "it is unknown whether",
		},
		"removes the UID of the claim from a volume": {
			saved: `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1, uid: u, finalizers: [kubernetes.io/pv-protection, external-provisioner.volume.kubernetes.io/finalizer], annotations: {pv.kubernetes.io/bound-by-controller: "yes", pv.kubernetes.io/provisioned-by: x}}
spec: {persistentVolumeReclaimPolicy: Delete, claimRef: {namespace: shop, name: a, uid: c, resourceVersion: "3"}}
status: {phase: Bound}`,
			want: `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1, finalizers: [external-provisioner.volume.kubernetes.io/finalizer], annotations: {pv.kubernetes.io/provisioned-by: x}}
spec: {persistentVolumeReclaimPolicy: Delete, claimRef: {namespace: shop, name: a}}`,
			lost: "data on PersistentVolumes",
		},
		"removes the token and the account UID from a token Secret": {
			saved: `
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: shop, uid: u, annotations: {kubernetes.io/service-account.name: robot, kubernetes.io/service-account.uid: r}}
type: kubernetes.io/service-account-token
data: {token: c2VjcmV0, ca.crt: Y2E=, namespace: c2hvcA==, extra: bWluZQ==}`,
			want: `
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: shop, annotations: {kubernetes.io/service-account.name: robot}}
type: kubernetes.io/service-account-token
data: {extra: bWluZQ==}`,
			lost: "service account tokens",
		},
		"keeps the data of other Secrets": {
			saved: `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop, uid: u}, type: Opaque, data: {token: c2VjcmV0}}`,
			want:  `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}, type: Opaque, data: {token: c2VjcmV0}}`,
		},
		"removes the finalizers from the spec of a namespace": {
			saved: `{apiVersion: v1, kind: Namespace, metadata: {name: shop-2, uid: u, labels: {team: a}}, spec: {finalizers: [kubernetes]}, status: {phase: Active}}`,
			want:  `{apiVersion: v1, kind: Namespace, metadata: {name: shop-2, labels: {team: a}}, spec: {}}`,
		},
		"treats fields of the wrong type as absent": {
			saved: `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, uid: u, finalizers: yes, annotations: [1]}, spec: [2], status: 3}`,
			want:  `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, annotations: [1]}, spec: [2]}`,
			lost:  "Pods start again",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, lost := cleaned(t, scenario{saved: []string{test.saved}, live: test.live, parts: test.parts})
			if diff := cmp.Diff(fields(t, test.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if all := strings.Join(lost, "\n"); test.lost == "" && all != "" || !strings.Contains(all, test.lost) {
				t.Errorf("lost: %q, want %q", all, test.lost)
			}
		})
	}
}

func TestWithoutAllocatedFields(t *testing.T) {
	service := object.Identity{APIVersion: "v1", Kind: "Service"}
	tests := map[string]struct{ body, want string }{
		"cluster IP": {`{"spec":{"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"type":"ClusterIP"}}`, `{"spec":{"type":"ClusterIP"}}`},
		"node ports": {`{"spec":{"clusterIP":"None","healthCheckNodePort":3,"ports":[{"nodePort":1,"port":80}]}}`, `{"spec":{"clusterIP":"None","ports":[{"port":80}]}}`},
		"none":       {`{"spec":{"clusterIP":"None","ports":[{"port":80}]}}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := restore.WithoutAllocatedFields(service, json.RawMessage(test.body))
			if ok != (test.want != "") || string(got) != test.want {
				t.Errorf("%s, %t; want %s", got, ok, test.want)
			}
		})
	}
	if _, ok := restore.WithoutAllocatedFields(object.Identity{APIVersion: "v1", Kind: "ConfigMap"}, json.RawMessage(tests["cluster IP"].body)); ok {
		t.Error("a field of a ConfigMap is removed")
	}
}
