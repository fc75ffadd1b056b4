package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// TestKubernetes84485ANodeTakesItsPodsAlong compares the preview of the deletion of a Node, and its backup, with what is
// gone when the pod garbage collector of kube-controller-manager has run.
func TestKubernetes84485ANodeTakesItsPodsAlong(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.startRealCollector()
	ns := s.namespace("node")
	here, there := "here-"+ns, "there-"+ns
	node := s.create(newObject("v1", "Node", "", here))
	s.create(newObject("v1", "Node", "", there))
	s.create(newObject("storage.k8s.io/v1", "CSINode", "", here, withField("spec", map[string]any{"drivers": []any{}}), ownedBy(referenceTo(node))))
	operator := s.create(configMap(ns, "operator"))
	claim := s.create(claimOf(ns, "data"))
	s.create(pod(ns, "bare", onNode(here), mounting("data")))
	s.create(pod(ns, "managed", onNode(here), ownedBy(referenceTo(operator, controlling))))
	s.create(pod(ns, "completed", onNode(here), withField("status", map[string]any{"phase": "Succeeded"})))
	s.create(pod(ns, "elsewhere", onNode(there)))
	s.create(pod(ns, "waiting"))
	s.remove(claim, metav1.DeletePropagationBackground)
	s.await("the protection of the claim", func(context.Context) (bool, error) {
		return len(s.live(claim).GetFinalizers()) > 0, nil
	})

	s.gc("why", "node/"+here).exits(t, 0).shows(t, "also deletes 1 CSINode, 1 PersistentVolumeClaim, 3 Pods", "Pod/bare in namespace "+ns, "No controller recreates Pod/bare in namespace "+ns+", Pod/completed in namespace "+ns+".")
	preview := s.gc("delete", "node/"+here, "--dry-run", "-o", "wide").exits(t, 0)
	preview.shows(t, "CSINode/"+here, "Pod/managed", "PersistentVolumeClaim/data", "4 more about a minute after the Node is gone: PersistentVolumeClaim 1, Pod 3", "no controller recreates it")
	preview.lacks(t, "Pod/elsewhere", "Pod/waiting")
	predicted := strings.Fields(s.gc("delete", "node/"+here, "--dry-run", "-o", "name").exits(t, 0).Stdout)

	backups := t.TempDir()
	s.gc("delete", "node/"+here, "--yes", "--max-deletes", "5", "--backup-dir", backups).exits(t, 4)
	s.live(node) // the limit counts the Pods, too
	s.gc("delete", "node/"+here, "--yes", "--backup-dir", backups).exits(t, 0).shows(t, "deleted 2 of 6 in ", "; 4 to go about a minute after the Node is gone; a scan afterwards found nothing left to do")

	pods := func() (names []string) {
		list, err := s.client(pod(ns, "")).List(s.Context(), metav1.ListOptions{})
		s.must(err)
		for _, p := range list.Items {
			names = append(names, p.GetName())
		}
		return names
	}
	// The pod garbage collector waits 40 seconds, and looks every 20.
	err := wait.PollUntilContextTimeout(s.Context(), time.Second, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := s.client(claim).Get(ctx, claim.GetName(), metav1.GetOptions{})
		return len(pods()) == 2 && apierrors.IsNotFound(err), nil
	})
	if left := pods(); err != nil || !slices.Equal(left, []string{"elsewhere", "waiting"}) {
		t.Errorf("left are %q and perhaps the claim: %v", left, err)
	}
	saved, err := filepath.Glob(filepath.Join(backups, "*", "records.jsonl"))
	s.must(err)
	if len(saved) != 1 {
		t.Fatalf("the backup has the files %q", saved)
	}
	backup, err := os.ReadFile(saved[0])
	s.must(err)
	for _, name := range []string{"bare", "managed", "completed"} {
		if !slices.ContainsFunc(predicted, func(line string) bool { return strings.HasSuffix(line, "/"+name) }) {
			t.Errorf("Pod/%s is gone, and the preview did not name it: %q", name, predicted)
		}
		if !strings.Contains(string(backup), `"name":"`+name+`"`) {
			t.Errorf("Pod/%s is gone, and not in the backup", name)
		}
	}
}
