package object_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func TestLifecycleOf(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		of   object.Identity
		json string
		want *object.Lifecycle
	}{
		"a token has an account": {
			identity("v1", "Secret", "a"), `{"type": "kubernetes.io/service-account-token", "metadata": {"annotations": {"kubernetes.io/service-account.name": "ci", "kubernetes.io/service-account.uid": "9"}}}`,
			&object.Lifecycle{With: object.Identity{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "a", Name: "ci", UID: "9"}},
		},
		"an annotation alone makes no token": {
			identity("v1", "Secret", "a"), `{"type": "Opaque", "metadata": {"annotations": {"kubernetes.io/service-account.name": "ci"}}}`, &object.Lifecycle{},
		},
		"a bootstrap token expires": {
			identity("v1", "Secret", "kube-system"), `{"type": "bootstrap.kubernetes.io/token", "data": {"expiration": "MjAyNi0xMS0yMFQxMjowMDowMFo="}}`, &object.Lifecycle{Expires: &at},
		},
		"a Secret elsewhere is no bootstrap token": {
			identity("v1", "Secret", "a"), `{"type": "bootstrap.kubernetes.io/token", "data": {"expiration": "MjAyNi0xMS0yMFQxMjowMDowMFo="}}`, &object.Lifecycle{},
		},
		"k/k#111556: a Job that has finished expires": {
			identity("batch/v1", "Job", "a"), `{"spec": {"ttlSecondsAfterFinished": 60}, "status": {"conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-11-20T11:59:00Z"}]}}`,
			&object.Lifecycle{TTL: new(int64(60)), Ended: "Complete", Expires: &at},
		},
		"a Job that runs does not yet": {
			identity("batch/v1", "Job", "a"), `{"spec": {"ttlSecondsAfterFinished": 0}, "status": {"conditions": [{"type": "Suspended", "status": "True"}]}}`, &object.Lifecycle{TTL: new(int64(0))},
		},
		"an evicted Pod has ended": {
			identity("v1", "Pod", "a"), `{"spec": {"nodeName": "n"}, "status": {"phase": "Failed"}}`,
			&object.Lifecycle{With: object.Identity{APIVersion: "v1", Kind: "Node", Name: "n"}, Ended: "Failed"},
		},
		"a volume that is kept goes with nothing": {
			identity("v1", "PersistentVolume", ""), `{"spec": {"persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "a", "name": "data"}}, "status": {"phase": "Bound"}}`, &object.Lifecycle{},
		},
		"another goes with its claim": {
			identity("v1", "PersistentVolume", ""), `{"spec": {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "a", "name": "data", "uid": "7"}}, "status": {"phase": "Bound"}}`,
			&object.Lifecycle{With: object.Identity{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "a", Name: "data", UID: "7"}},
		},
		"a revision": {
			identity("apps/v1", "ReplicaSet", "a"), `{"metadata": {"annotations": {"deployment.kubernetes.io/revision": "3"}}}`, &object.Lifecycle{Revision: 3},
		},
		"a CronJob keeps Jobs": {
			identity("batch/v1", "CronJob", "a"), `{"spec": {"successfulJobsHistoryLimit": 3}}`, &object.Lifecycle{Keeps: map[string]int64{"Complete": 3}},
		},
		"a Workflow that runs": {identity("argoproj.io/v1alpha1", "Workflow", "a"), `{"status": {"phase": "Running"}}`, &object.Lifecycle{}},
		"a malformed object":   {identity("v1", "Pod", "a"), `{"spec": 5}`, nil},
		"another kind":         {identity("v1", "ConfigMap", "a"), `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, object.LifecycleOf(c.of, []byte(c.json))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func identity(apiVersion, kind, namespace string) object.Identity {
	return object.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: "x"}
}
