package delete

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

// previewed returns the preview of a deletion from a file with these objects.
func previewed(t *testing.T, objects string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.json")
	if err := os.WriteFile(file, []byte(`{"apiVersion": "v1", "kind": "List", "items": [`+objects+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := clitest.Run(t, New, append([]string{"--from", file, "--dry-run"}, args...)...)
	if r.Code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", r.Code, r.Stderr)
	}
	return r.Stdout
}

func TestHarvester6668HeldDeletionShowsWhatFollows(t *testing.T) {
	out := previewed(t, `
{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"namespace": "vms", "name": "db", "uid": "1", "resourceVersion": "1", "finalizers": ["kubevirt.io/virtualMachineControllerFinalize"]}},
{"apiVersion": "harvesterhci.io/v1beta1", "kind": "VirtualMachineRestore", "metadata": {"namespace": "vms", "name": "from-monday", "uid": "2", "resourceVersion": "1", "ownerReferences": [{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "db", "uid": "1"}]}},
{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"namespace": "vms", "name": "data", "uid": "3", "resourceVersion": "1", "ownerReferences": [{"apiVersion": "harvesterhci.io/v1beta1", "kind": "VirtualMachineRestore", "name": "from-monday", "uid": "2"}]}},
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "vms", "name": "notes", "uid": "4", "resourceVersion": "1", "finalizers": ["example.com/hold"], "ownerReferences": [{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "db", "uid": "1"}]}},
{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "vms", "name": "key", "uid": "5", "resourceVersion": "1", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "notes", "uid": "4"}]}}`,
		"virtualmachine/db", "-n", "vms")
	for _, want := range []string{
		"delete       vms        VirtualMachine/db                     requested; its dependents follow (background); then it is blocked until KubeVirt removes kubevirt.io/virtualMachineControllerFinalize\n",
		"then delete             ├─ ConfigMap/notes                    once its owner is gone\n",
		"                        │  └─ Secret/key                      once its owner is gone, held until a controller removes example.com/hold\n",
		"then delete             └─ VirtualMachineRestore/from-monday  once its owner is gone\n",
		"                           └─ PersistentVolumeClaim/data      once its owner is gone; its data may be deleted\n",
		"Deletes: VirtualMachine 1; 4 more once KubeVirt has finished, and a controller has removed example.com/hold: ConfigMap 1, PersistentVolumeClaim 1, Secret 1, VirtualMachineRestore 1.\n",
		"delete 5 (1 blocked, 4 later) in namespace vms",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for _, wrong := range []string{"keep", "no PersistentVolumeClaim"} {
		if strings.Contains(out, wrong) {
			t.Errorf("%q is in\n%s", wrong, out)
		}
	}
}

func TestTekton1784ClaimThatWaitsForFinishedPodsHasARow(t *testing.T) {
	out := previewed(t, `
{"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "metadata": {"namespace": "ci", "name": "nightly", "uid": "1", "resourceVersion": "1"}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "ci", "name": "clone", "uid": "2", "resourceVersion": "1", "ownerReferences": [{"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "name": "nightly", "uid": "1"}]}, "spec": {"nodeName": "n", "volumes": [{"name": "w", "persistentVolumeClaim": {"claimName": "work"}}]}, "status": {"phase": "Succeeded"}},
{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"namespace": "ci", "name": "work", "uid": "3", "resourceVersion": "1", "deletionTimestamp": "2026-11-20T08:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["kubernetes.io/pvc-protection"], "ownerReferences": [{"apiVersion": "tekton.dev/v1", "kind": "PipelineRun", "name": "nightly", "uid": "1"}]}}`,
		"pipelinerun/nightly", "-n", "ci", "--complete")
	for _, want := range []string{
		"├─ PersistentVolumeClaim/work  it was already being deleted, and now the volume protection (kube-controller-manager) removes kubernetes.io/pvc-protection; its data may be deleted\n",
		"Deletes: PersistentVolumeClaim 1, PipelineRun 1, Pod 1.\n", "delete 3 in namespace ci",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
