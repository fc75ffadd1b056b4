package object_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Statuses as operators write them, and what they say is not as it should be.
func TestConditionsOfTenOperators(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		want   []string // type, status and reason
	}{
		"Rook (rook#17059)": {
			`{"phase":"Deleting","message":"Deleting the CephCluster","conditions":[
			{"type":"Connected","status":"True","reason":"ClusterConnecting","message":"Attempting to connect to an external Ceph cluster"},
			{"type":"DeletionIsBlocked","status":"True","reason":"ObjectHasDependents","message":"CephCluster will not be deleted until all dependents are removed: CephBlockPool: [fast]"}]}`,
			[]string{"DeletionIsBlocked True ObjectHasDependents"},
		},
		"Crossplane, a managed resource": {
			`{"conditions":[
			{"type":"Ready","status":"False","reason":"Deleting"},
			{"type":"Synced","status":"False","reason":"ReconcileError","message":"delete failed: BucketNotEmpty: The bucket you tried to delete is not empty"}]}`,
			[]string{"Ready False Deleting", "Synced False ReconcileError"},
		},
		"Crossplane, made with Upjet": {
			`{"conditions":[{"type":"LastAsyncOperation","status":"False","reason":"DestroyFailure","message":"destroy failed"},{"type":"Synced","status":"True","reason":"ReconcileSuccess"}]}`,
			[]string{"LastAsyncOperation False DestroyFailure"},
		},
		"Cluster API v1beta1, a Machine": {
			`{"phase":"Deleting","conditions":[
			{"type":"Ready","status":"False","severity":"Info","reason":"Draining","message":"Draining the node before deletion"},
			{"type":"BootstrapReady","status":"True"},{"type":"InfrastructureReady","status":"True"},
			{"type":"DrainingSucceeded","status":"False","severity":"Info","reason":"Draining","message":"Draining the node before deletion"},
			{"type":"PreDrainDeleteHookSucceeded","status":"True"}]}`,
			[]string{"Ready False Draining", "DrainingSucceeded False Draining"},
		},
		"Cluster API v1beta2, a Machine": {
			`{"deprecated":{"v1beta1":{"conditions":[{"type":"InfrastructureReady","status":"True"}]}},"conditions":[
			{"type":"Available","status":"False","reason":"NotReady"},{"type":"UpToDate","status":"True","reason":"UpToDate"},
			{"type":"NodeReady","status":"Unknown","reason":"InspectionFailed"},
			{"type":"Deleting","status":"True","reason":"DrainingNode","message":"Drain not completed yet: Pod web-0: cannot evict"},
			{"type":"Paused","status":"False","reason":"NotPaused"}]}`,
			[]string{"Deleting True DrainingNode", "Available False NotReady", "NodeReady Unknown InspectionFailed"},
		},
		"Cluster API, v1beta2 conditions in v1beta1": {
			`{"conditions":[{"type":"Ready","status":"True"}],"v1beta2":{"conditions":[{"type":"Deleting","status":"True","reason":"WaitingForWorkersDeletion","message":"MachineDeployments: md-0"},{"type":"RollingOut","status":"False"},{"type":"ScalingDown","status":"True","reason":"ScalingDown"}]}}`,
			[]string{"Deleting True WaitingForWorkersDeletion"},
		},
		"Argo CD, a list of problems": {
			`{"conditions":[{"type":"DeletionError","message":"failed to delete: dial tcp: no such host"}],"health":{"status":"Healthy"},"operationState":{"phase":"Succeeded","message":"successfully synced"}}`,
			[]string{"DeletionError"},
		},
		"Argo CD, an operation":             {`{"health":{"status":"Missing"},"operationState":{"phase":"Running","message":"waiting for deletion of hook batch/Job/pre-delete"},"sync":{"status":"Unknown"}}`, []string{"operationState Running"}},
		"Argo CD, an operation that failed": {`{"operationState":{"phase":"Failed","message":"waiting for deletion of hook batch/Job/pre-delete"}}`, []string{"operationState Failed"}},
		"Strimzi, a KafkaTopic": {
			`{"conditions":[{"type":"Ready","status":"False","reason":"KafkaError","message":"Topic deletion is disabled"},{"type":"Unmanaged","status":"False"}]}`,
			[]string{"Ready False KafkaError"},
		},
		"Strimzi, a Kafka": {
			`{"conditions":[{"type":"NotReady","status":"True","reason":"FatalProblem"},{"type":"Warning","status":"True","reason":"KafkaStorage"},{"type":"ReconciliationPaused","status":"True"}]}`,
			[]string{"NotReady True FatalProblem", "Warning True KafkaStorage", "ReconciliationPaused True"},
		},
		"KubeVirt": {
			`{"printableStatus":"Terminating","conditions":[{"type":"Ready","status":"False","reason":"GuestNotRunning","message":"Guest VM is not reported as running"},
			{"type":"LiveMigratable","status":"False","reason":"DisksNotLiveMigratable","message":"cannot migrate VMI"},{"type":"Paused","status":"False"}]}`,
			[]string{"Ready False GuestNotRunning"},
		},
		"Config Connector": {
			`{"conditions":[{"type":"Ready","status":"False","reason":"DependencyNotReady","message":"reference ComputeNetwork shop/net is not ready"}],"observedGeneration":3}`,
			[]string{"Ready False DependencyNotReady"},
		},
		"Flux": {
			`{"conditions":[{"type":"Reconciling","status":"True","reason":"ProgressingWithRetry","message":"Detecting drift"},{"type":"Ready","status":"False","reason":"UninstallFailed"},{"type":"Stalled","status":"True","reason":"RetriesExceeded"}]}`,
			[]string{"Ready False UninstallFailed", "Stalled True RetriesExceeded"},
		},
		"Knative":                               {`{"conditions":[{"type":"Ready","status":"Unknown","reason":"Uninitialized"},{"type":"RoutesReady","status":"True"}]}`, []string{"Ready Unknown Uninitialized"}},
		"OpenShift":                             {`{"conditions":[{"type":"Degraded","status":"False"},{"type":"Progressing","status":"False"},{"type":"Available","status":"True"},{"type":"Upgradeable","status":"False","reason":"Maintenance"}]}`, nil},
		"cert-manager":                          {`{"state":"errored","reason":"Failed to finalize Order: 403"}`, []string{"phase errored Failed to finalize Order: 403"}},
		"Longhorn":                              {`{"state":"detaching","robustness":"faulted","conditions":[{"type":"WaitForBackingImage","status":"False"},{"type":"Scheduled","status":"False","reason":"ReplicaSchedulingFailure"},{"type":"TooManySnapshots","status":"False"}]}`, []string{"Scheduled False ReplicaSchedulingFailure", "phase detaching"}},
		"Gateway API":                           {`{"parents":[{"conditions":[{"type":"Accepted","status":"True"},{"type":"ResolvedRefs","status":"False","reason":"BackendNotFound"}]}]}`, []string{"ResolvedRefs False BackendNotFound"}},
		"initials before a word":                {`{"conditions":[{"type":"APIReady","status":"False"}]}`, []string{"APIReady False"}},
		"a message without a state":             {`{"message":"will not be deleted: 3 volumes are attached"}`, []string{"phase"}},
		"an operator with its own fields":       {`{"phase":"Terminating","lastError":"AccessDenied"}`, []string{"phase Terminating"}},
		"nothing wrong":                         {`{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"NoErrors","status":"True"},{"type":"DiskPressure","status":"False"}]}`, nil},
		"no problem is a problem when False":    {`{"conditions":[{"type":"NoErrors","status":"False"}]}`, []string{"NoErrors False"}},
		"deletion in a message of what is good": {`{"conditions":[{"type":"Ready","status":"True","message":"will be deleted after its children"}]}`, []string{"Ready True"}},
		"no status":                             {``, nil},
		"other forms":                           {`{"conditions":{"Ready":{"status":"False"}},"phase":7,"state":null}`, nil},
		"conditions that are none":              {`{"conditions":["Ready",null,7,{"type":["Ready"]}]}`, nil},
		"a text":                                {`"Deleting"`, nil},
		"not JSON":                              {`{"conditions":[`, nil},
		"more than four": {
			`{"conditions":[{"type":"AReady","status":"False"},{"type":"BReady","status":"False"},{"type":"CReady","status":"False"},{"type":"DReady","status":"False"},{"type":"EReady","status":"False"},{"type":"Deleting","status":"True"}]}`,
			[]string{"Deleting True", "AReady False", "BReady False", "CReady False"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range object.ConditionsOf(json.RawMessage(c.status)) {
				got = append(got, strings.Join(strings.Fields(c.Type+" "+c.Status+" "+c.Reason), " "))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestConditionsHaveTimesAndBounds(t *testing.T) {
	got := object.ConditionsOf(json.RawMessage(`{"conditions":[
		{"type":"Ready","status":"False","lastTransitionTime":"2026-11-28T16:50:00+02:00","message":"` + strings.Repeat("é", 4000) + `"},
		{"type":"Healthy","status":"False","lastTransitionTime":"yesterday"}]}`))
	if len(got) != 2 || !got[0].Since.Equal(time.Date(2026, 11, 28, 14, 50, 0, 0, time.UTC)) || !got[1].Since.IsZero() || len(got[0].Message) > 1010 {
		t.Errorf("%+v", got)
	}
}
