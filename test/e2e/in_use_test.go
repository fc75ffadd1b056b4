package e2e

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestK9sPvTerminatingAProtectedVolumeIsNotTakenFromItsClaim compares what the previews and reports say about a claim and a
// volume that are in use with what becomes of those who use them (derailed/k9s, pv_terminating.json;
// jianz/k8s-reset-terminating-pv).
func TestK9sPvTerminatingAProtectedVolumeIsNotTakenFromItsClaim(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.startRealCollector()
	ns := s.namespace("in-use")
	bound := func(claim string) (object, object) {
		name := claim + "-" + ns
		volume := s.create(newObject("v1", "PersistentVolume", "", name, withField("spec", map[string]any{
			"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "storageClassName": name,
			"hostPath": map[string]any{"path": "/tmp/x"}, "persistentVolumeReclaimPolicy": "Retain",
		})))
		spec := claimSpec()
		spec["storageClassName"], spec["volumeName"] = name, name
		made := s.create(newObject("v1", "PersistentVolumeClaim", ns, claim, withField("spec", spec)))
		s.await("the binding of "+claim, func(context.Context) (bool, error) {
			status, _ := s.live(made).Object["status"].(map[string]any)
			return status["phase"] == "Bound" && len(s.live(volume).GetFinalizers()) > 0, nil
		})
		return volume, made
	}
	user := s.create(pod(ns, "db", onNode("n1"), mounting("data")))
	_, claim := bound("data")

	inUse := "in use by Pod/db"
	s.gc("delete", "pvc/data", "-n", ns, "--dry-run").exits(t, 0).shows(t, inUse+": stays until nothing uses it; 1Gi", "delete 1 (1 in use)").lacks(t, "blocked", "--allow-in-use")
	s.gc("delete", "pvc/data", "-n", ns, "--yes", "--timeout", "2s").exits(t, 1).shows(t, "because Pod/db uses it").lacks(t, "It took", "could not read")
	s.await("a second of the deletion", func(context.Context) (bool, error) {
		return time.Since(s.live(claim).GetDeletionTimestamp().Time) > 2*time.Second, nil
	})
	for _, command := range [][]string{{"stuck", "-n", ns}, {"why", "pvc/data", "-n", ns}, {"audit", "-n", ns, "--stuck-after", "1s"}, {}} {
		s.gc(command...).shows(t, "because Pod/db uses it")
	}

	remove := []string{"finalizer", "remove", "pvc/data", "kubernetes.io/pvc-protection", "-n", ns}
	s.gc(append(remove, "--dry-run")...).exits(t, 0).warns(t, "a run needs --allow-in-use").shows(t, "although it is "+inUse).lacks(t, "Run exactly this plan")
	s.gc(append(remove, "--yes")...).exits(t, 4).warns(t, "PersistentVolumeClaim/data is "+inUse+"; nothing was changed", "--allow-in-use")
	if s.gone(claim) {
		t.Fatal("the claim is gone without the consent")
	}
	s.gc(append(remove, "--yes", "--allow-in-use")...).exits(t, 0).shows(t, "Pod/db has lost its claim data.").lacks(t, "nothing left to do")
	s.awaitGone(claim)
	if s.gone(user) {
		t.Error("the Pod is gone, too")
	}

	volume, www := bound("www")
	s.remove(volume, metav1.DeletePropagationBackground)
	remove = []string{"finalizer", "remove", "pv/" + volume.GetName(), "kubernetes.io/pv-protection"}
	s.gc(append(remove, "--yes")...).exits(t, 4).warns(t, "is in use by PersistentVolumeClaim/www in namespace "+ns)
	s.gc(append(remove, "--yes", "--allow-in-use")...).exits(t, 0).shows(t, "PersistentVolumeClaim/www in namespace "+ns+" is Lost now: its volume is gone.").lacks(t, "nothing left to do")
	s.await("the loss of the claim", func(context.Context) (bool, error) {
		status, _ := s.live(www).Object["status"].(map[string]any)
		return status["phase"] == "Lost", nil
	})
}
