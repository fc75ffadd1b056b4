package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// backupOf returns the folder of the backup that a run with -o json reports.
func backupOf(s *scene, r result) string {
	s.Helper()
	var out struct{ Backup string }
	s.must(json.Unmarshal([]byte(r.Stdout), &out))
	return out.Backup
}

// The claim goes when the controllers of its owners have removed their finalizers, as they do for every
// VirtualMachine.
func TestHarvester6668RestoredClaimIsPartOfTheDeletion(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("vms")
	vm := s.create(configMap(ns, "erp", heldBy("kubevirt.io/virtualMachineControllerFinalize")))
	restored := s.create(secret(ns, "restored", ownedBy(referenceTo(vm, blocking)), heldBy("wrangler.cattle.io/vm-restore-controller")))
	claim := s.create(claimOf(ns, "disk", ownedBy(referenceTo(restored, blocking))))
	all := []object{vm, restored, claim}

	args := []string{"delete", "configmap/erp", "-n", ns}
	s.gc(append(args, "--dry-run")...).exits(t, 0).
		shows(t, "then it is blocked until KubeVirt removes kubevirt.io/virtualMachineControllerFinalize", "then delete", "PersistentVolumeClaim/disk",
			"Deletes: ConfigMap 1; 2 more once KubeVirt and a controller built with the library wrangler (K3s, RKE2, Harvester or Rancher) have finished: PersistentVolumeClaim 1, Secret 1.", "delete 3 (1 blocked, 2 later)").
		lacks(t, "keep", "no PersistentVolumeClaims")
	s.gc("why", "configmap/erp", "-n", ns).exits(t, 0).shows(t, "deleting it also deletes 1 PersistentVolumeClaim, 1 Secret")
	s.gc(append(args, "--yes", "--max-deletes=1")...).exits(t, 4).warns(t, "deletes 3 objects, more than --max-deletes allows (1)", "PersistentVolumeClaim/disk -n "+ns+", later")
	s.requireUnchanged(all...)

	r := s.gc(append(args, "--yes", "-o", "json")...).exits(t, 1)
	if s.gone(claim) || s.live(claim).GetDeletionTimestamp() != nil {
		t.Error("the claim is deleted before the controllers have finished")
	}
	for _, held := range []object{vm, restored} { // as their controllers do
		s.await("the deletion of "+held.GetName(), func(context.Context) (bool, error) { return s.live(held).GetDeletionTimestamp() != nil, nil })
		s.patch(held, `{"metadata":{"finalizers":null}}`)
	}
	s.await("the claim to go", func(context.Context) (bool, error) {
		// no claim protection runs here
		_, err := s.client(claim).Patch(s.Context(), "disk", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		return s.gone(vm) && s.gone(restored) && s.gone(claim), nil
	})
	s.gc("restore", backupOf(s, r), "--yes").exits(t, 0).shows(t, "created 3 in ")
	if refs := s.live(claim).GetOwnerReferences(); len(refs) != 1 || refs[0].UID != s.live(restored).GetUID() {
		t.Errorf("the claim is restored with %v", refs)
	}
}

var deletedOf = regexp.MustCompile(`Deleted (\d+) of (\d+) in `)

// A namespace with one held object: the others are waited for, and only they are counted.
func TestKubeflow7297ReportCountsWhatIsGone(t *testing.T) {
	for name, flags := range map[string][]string{"the cluster's collector": nil, "client-side": {"--client-side"}} {
		t.Run(name, func(t *testing.T) {
			s := sceneWithCollector(t)
			ns := s.namespace("hold")
			s.create(configMap(ns, "stuck", heldBy("example.com/hold")))
			for i := range 5 {
				s.create(configMap(ns, fmt.Sprint("free-", i)))
			}
			out := s.gc(append([]string{"delete", "namespace/" + ns, "--yes"}, flags...)...).exits(t, 1).
				shows(t, "Namespace/"+ns+" still contains configmaps (1); finalizer example.com/hold holds ConfigMap/stuck. Next: ", "why namespace/"+ns).Stdout
			found := deletedOf.FindStringSubmatch(out)
			if found == nil {
				t.Fatalf("no count in\n%s", out)
			}
			gone, _ := strconv.Atoi(found[1])
			planned, _ := strconv.Atoi(found[2])
			if gone != planned-2 || gone < 5 { // the namespace and the held object are there
				t.Errorf("%s", strings.TrimSpace(out))
			}
		})
	}
}

// TestKubeflow4720HeldObjectsAreNotCountedAsDeleted is about a report of four deletions of which one has not happened.
func TestKubeflow4720HeldObjectsAreNotCountedAsDeleted(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("profile")
	words := []string{"delete"}
	for _, name := range []string{"a", "b", "c"} {
		s.create(configMap(ns, name))
		words = append(words, "configmap/"+name)
	}
	s.create(configMap(ns, "stuck", heldBy("example.com/hold")))
	s.gc(append(words, "configmap/stuck", "-n", ns, "--yes")...).exits(t, 1).shows(t, "Deleted 3 of 4 in ", "ConfigMap/stuck has been held by example.com/hold")
}

// A claim that was being deleted goes with the last finished Pod that uses it.
func TestTekton5776ClaimOfFinishedPodsIsPartOfTheDeletion(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("ci")
	run := s.create(configMap(ns, "run"))
	claim := s.create(claimOf(ns, "workspace", ownedBy(referenceTo(run))))
	finished := s.create(pod(ns, "clone", ownedBy(referenceTo(run, controlling)), onNode("node-"+ns), func(o object) {
		spec := o.Object["spec"].(map[string]any)
		spec["volumes"] = []any{map[string]any{"name": "ws", "persistentVolumeClaim": map[string]any{"claimName": "workspace"}}}
	}))
	s.patchStatus(finished, `{"status":{"phase":"Succeeded"}}`)
	s.must(s.client(claim).Delete(s.Context(), "workspace", metav1.DeleteOptions{}))
	if s.live(claim).GetDeletionTimestamp() == nil {
		t.Fatal("the claim is not being deleted")
	}
	r := s.gc("delete", "configmap/run", "-n", ns, "--dry-run", "-o", "name").exits(t, 0)
	r.shows(t, "persistentvolumeclaim/workspace")
	number := len(strings.Fields(r.Stdout))
	s.gc("delete", "configmap/run", "-n", ns, "--dry-run").shows(t, "PersistentVolumeClaim/workspace", "it was already being deleted, and now", "Deletes: ConfigMap 1, PersistentVolumeClaim 1, Pod 1.")
	s.gc("why", "configmap/run", "-n", ns).exits(t, 0).shows(t, "deleting it also deletes 1 PersistentVolumeClaim, 1 Pod")
	folder := backupOf(s, s.gc("delete", "configmap/run", "-n", ns, "--yes", "-o", "json", "--timeout=20s"))
	s.await("the claim to go", func(context.Context) (bool, error) {
		if !s.gone(claim) {
			s.patch(claim, `{"metadata":{"finalizers":null}}`) // if no claim protection runs here
		}
		return s.gone(claim) && s.gone(finished) && s.gone(run), nil
	})
	if number != 3 {
		t.Errorf("asks for %d objects", number)
	}
	s.gc("restore", folder, "--dry-run").exits(t, 0).shows(t, "PersistentVolumeClaim/workspace")
}
