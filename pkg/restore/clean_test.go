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

// cleaned is what is sent to have the one object of a backup made, and what is lost besides what everything loses.
func cleaned(t *testing.T, s scene) (map[string]any, []string) {
	t.Helper()
	r := planned(t, s)
	if len(r.Plan.Steps) == 0 {
		t.Fatalf("nothing is made: %+v", r.Plan.Kept)
	}
	body, err := r.Body(0, nil)
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

func TestWhatIsMadeOfAManifest(t *testing.T) {
	tests := map[string]struct {
		saved, made string
		there       []object.Object
		parts       []Part
		lost        string // a part of it; empty: nothing
	}{
		"what the server sets goes, the finalizers of others stay": {
			saved: `
apiVersion: v1
kind: ConfigMap
metadata:
  {name: a, namespace: shop, uid: u, resourceVersion: "7", generation: 2, creationTimestamp: "2026-01-01T00:00:00Z", selfLink: /x,
   labels: {app: web}, annotations: {note: kept}, managedFields: [{manager: kubectl}],
   finalizers: [foregroundDeletion, example.com/hold, orphan]}
data: {key: value}`,
			made: `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop, labels: {app: web}, annotations: {note: kept}, finalizers: [example.com/hold]}
data: {key: value}`,
		},
		"an integer stays one, however large": {
			saved: `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: a, namespace: shop, uid: u}, revision: 9007199254740993}`,
			made:  `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: a, namespace: shop}, revision: 9007199254740993}`,
		},
		"the status of what Kubernetes serves goes": {
			saved: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop, uid: u}, spec: {replicas: 1}, status: {replicas: 1}}`,
			made:  `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop}, spec: {replicas: 1}}`,
		},
		"the status of a custom resource stays: the server drops it where it is a subresource": {
			saved: `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop, uid: u}, status: {written: by hand}}`,
			made:  `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop}, status: {written: by hand}}`,
		},
		"a Pod is scheduled anew": {
			saved: `
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop, uid: u, finalizers: [batch.kubernetes.io/job-tracking]}
spec: {nodeName: n1, priority: 7, priorityClassName: high, containers: [{name: main}], ephemeralContainers: [{name: debug}]}
status: {phase: Running}`,
			made: `
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec: {priorityClassName: high, containers: [{name: main}]}`,
			lost: "Pods start again",
		},
		"a Job that had not finished keeps its selector, to find its Pods by": {
			saved: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, uid: u}
spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u}}}}
status: {active: 1, conditions: [{type: Complete, status: "False"}]}`,
			made: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop}
spec: {manualSelector: true, selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u}}}}`,
			lost: "count their Pods from zero",
		},
		"a Job that had finished gets a selector of its own, and does not run": {
			saved: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, uid: u, labels: {controller-uid: u, job-name: a}}
spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u, controller-uid: u, job-name: a}}}}
status: {conditions: [{type: Complete, status: "True"}]}`,
			made: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, labels: {job-name: a}}
spec: {suspend: true, template: {metadata: {labels: {job-name: a}}}}`,
			lost: "created suspended",
		},
		"a Job that had failed with a selector that somebody chose keeps that": {
			saved: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop, uid: u}
spec: {manualSelector: true, selector: {matchLabels: {app: a}}, template: {}}
status: {conditions: [{type: Failed, status: "True"}]}`,
			made: `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: shop}
spec: {manualSelector: true, suspend: true, selector: {matchLabels: {app: a}}, template: {}}`,
			lost: "created suspended",
		},
		"a Service asks for the addresses that it had": {
			saved: `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop, uid: u}, spec: {clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7], ports: [{port: 80, nodePort: 30080}]}, status: {loadBalancer: {}}}`,
			made:  `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}, spec: {clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7], ports: [{port: 80, nodePort: 30080}]}}`,
			lost:  "the Service gets another",
		},
		"a Service without addresses has nothing to lose": {
			saved: `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop, uid: u}, spec: {clusterIP: None, ports: [{port: 80}]}}`,
			made:  `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}, spec: {clusterIP: None, ports: [{port: 80}]}}`,
		},
		"a claim whose volume is gone asks for a new one": {
			saved: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, namespace: shop, uid: u, finalizers: [kubernetes.io/pvc-protection], annotations:
  {pv.kubernetes.io/bind-completed: "yes", pv.kubernetes.io/bound-by-controller: "yes", volume.kubernetes.io/selected-node: n1, mine: kept}}
spec: {volumeName: pv-1, storageClassName: fast}
status: {phase: Bound}`,
			made: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a, namespace: shop, annotations: {mine: kept}}
spec: {storageClassName: fast}`,
			lost: "data on volumes that are gone",
		},
		"a claim whose volume is there still names it, and waits for it": {
			saved: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop, uid: u}, spec: {volumeName: pv-1}}`,
			made:  `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop}, spec: {volumeName: pv-1}}`,
			there: []object.Object{Object("v1", "PersistentVolume", "pv-1")},
			lost:  "kubectl patch pv pv-1",
		},
		"a claim whose volume nobody could ask for still names it": {
			saved: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop, uid: u}, spec: {volumeName: pv-1}}`,
			made:  `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: shop}, spec: {volumeName: pv-1}}`,
			parts: []Part{Unreadable("persistentvolumes", snapshot.Forbidden)},
			lost:  "it is unknown whether",
		},
		"a volume forgets which claim of that name it was bound to, so that it is not reclaimed": {
			saved: `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1, uid: u, finalizers: [kubernetes.io/pv-protection, external-provisioner.volume.kubernetes.io/finalizer], annotations: {pv.kubernetes.io/bound-by-controller: "yes", pv.kubernetes.io/provisioned-by: x}}
spec: {persistentVolumeReclaimPolicy: Delete, claimRef: {namespace: shop, name: a, uid: c, resourceVersion: "3"}}
status: {phase: Bound}`,
			made: `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1, finalizers: [external-provisioner.volume.kubernetes.io/finalizer], annotations: {pv.kubernetes.io/provisioned-by: x}}
spec: {persistentVolumeReclaimPolicy: Delete, claimRef: {namespace: shop, name: a}}`,
			lost: "data on PersistentVolumes",
		},
		"the Secret of a token is filled anew, as one that names the UID of then would be deleted": {
			saved: `
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: shop, uid: u, annotations: {kubernetes.io/service-account.name: robot, kubernetes.io/service-account.uid: r}}
type: kubernetes.io/service-account-token
data: {token: c2VjcmV0, ca.crt: Y2E=, namespace: c2hvcA==, extra: bWluZQ==}`,
			made: `
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: shop, annotations: {kubernetes.io/service-account.name: robot}}
type: kubernetes.io/service-account-token
data: {extra: bWluZQ==}`,
			lost: "service account tokens",
		},
		"the data of any other Secret stays": {
			saved: `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop, uid: u}, type: Opaque, data: {token: c2VjcmV0}}`,
			made:  `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}, type: Opaque, data: {token: c2VjcmV0}}`,
		},
		"a namespace gets its finalizers from the server": {
			saved: `{apiVersion: v1, kind: Namespace, metadata: {name: shop-2, uid: u, labels: {team: a}}, spec: {finalizers: [kubernetes]}, status: {phase: Active}}`,
			made:  `{apiVersion: v1, kind: Namespace, metadata: {name: shop-2, labels: {team: a}}, spec: {}}`,
		},
		"fields of a type that they should not have count as absent": {
			saved: `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, uid: u, finalizers: yes, annotations: [1]}, spec: [2], status: 3}`,
			made:  `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, annotations: [1]}, spec: [2]}`,
			lost:  "Pods start again",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, lost := cleaned(t, scene{saved: []string{test.saved}, there: test.there, parts: test.parts})
			if diff := cmp.Diff(fields(t, test.made), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if all := strings.Join(lost, "\n"); test.lost == "" && all != "" || !strings.Contains(all, test.lost) {
				t.Errorf("lost: %q, want %q", all, test.lost)
			}
		})
	}
}

func TestAServiceIsMadeWithoutTheAddressesThatAreTaken(t *testing.T) {
	service := object.Identity{APIVersion: "v1", Kind: "Service"}
	tests := map[string]struct{ body, plainer string }{
		"an address":      {`{"spec":{"clusterIP":"10.0.0.7","clusterIPs":["10.0.0.7"],"type":"ClusterIP"}}`, `{"spec":{"type":"ClusterIP"}}`},
		"ports of a node": {`{"spec":{"clusterIP":"None","healthCheckNodePort":3,"ports":[{"nodePort":1,"port":80}]}}`, `{"spec":{"clusterIP":"None","ports":[{"port":80}]}}`},
		"nothing":         {`{"spec":{"clusterIP":"None","ports":[{"port":80}]}}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := restore.WithoutAllocatedFields(service, json.RawMessage(test.body))
			if ok != (test.plainer != "") || string(got) != test.plainer {
				t.Errorf("%s, %t; want %s", got, ok, test.plainer)
			}
		})
	}
	if _, ok := restore.WithoutAllocatedFields(object.Identity{APIVersion: "v1", Kind: "ConfigMap"}, json.RawMessage(tests["an address"].body)); ok {
		t.Error("something is left out of a ConfigMap")
	}
}
