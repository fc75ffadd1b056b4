package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestDeleteThenRestoreGivesSameTree deletes one object of each kind that controllers act on,
// and restores all of them: every object exists again under its name, every controller has
// adopted its objects, and no controller has created others.
func TestDeleteThenRestoreGivesSameTree(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.defineTestKinds()
	crd := definition("restored.example.com", "Thing", "Namespaced", version("v1", true))
	s.define(crd) // before the collector starts, which discovers new types only every 30 seconds
	s.switchCollector(testcluster.On)
	defer s.switchCollector(testcluster.Absent)

	t.Run("of workloads", func(t *testing.T) { s.forSubtest(t).testWorkloads(t) })
	t.Run("of custom resources, with their definition", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("defined")
		s.createCustomOwners(ns, crd, &deletion{})
		s.deleteAndRestore(ns, []string{"customresourcedefinition/things.restored.example.com"}, "created 10 in ", "Thing/thing-0")
	})
	t.Run("of a namespace", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("space")
		deployment := s.create(workload("Deployment", ns, "web"))
		s.create(configMap(ns, "web", ownedBy(referenceTo(deployment))))
		s.create(newObject("v1", "ServiceAccount", ns, "robot"))
		s.create(secret(ns, "robot", withField("type", "kubernetes.io/service-account-token"),
			func(o object) { o.SetAnnotations(map[string]string{"kubernetes.io/service-account.name": "robot"}) }))
		s.awaitValue(deployment, 2, "status", "replicas")
		s.deleteAndRestore(ns, []string{"namespace/" + ns}, "ServiceAccount/default", "a controller creates it in every namespace", "service account tokens")
		if s.live(secret(ns, "robot")).GetAnnotations()["kubernetes.io/service-account.uid"] != string(s.live(newObject("v1", "ServiceAccount", ns, "robot")).GetUID()) {
			t.Error("the Secret of a token is not that of the account")
		}
	})
}

// deleteAndRestore deletes targets, restores them, and compares the tree and the references with
// those before.
func (s *scene) deleteAndRestore(ns string, targets []string, words ...string) {
	s.Helper()
	names, links := s.names(ns), s.links(ns)
	folder := s.tool().runForBackup(append([]string{"delete", "-n", ns}, targets...)...)
	s.gc("restore", folder, "--dry-run").exits(s, 0)
	s.gc("restore", folder, "--dry-run=server").exits(s, 0)
	if left := s.links(ns); len(left) > 0 || len(s.restoredResults(folder)) > 0 {
		s.Fatalf("a dry run made %s", left)
	}
	r := s.gc("restore", folder, "--yes").exits(s, 0).shows(s, "a scan afterwards found nothing left to do.")
	r.shows(s, words...)
	s.Logf("%s\nin %s", r.Stdout, r.Took)
	s.await("controllers to settle", func(context.Context) (bool, error) { return cmp.Equal(links, s.links(ns)), nil })
	if diff := cmp.Diff(names, s.names(ns)); diff != "" {
		s.Errorf("the tree has changed (-before +after)\n%s", diff)
	}
	if diff := cmp.Diff(links, s.links(ns)); diff != "" {
		s.Errorf("the references are others (-before +after)\n%s", diff)
	}
	s.mustHaveNoFindings(ns)
	s.gc("restore", folder, "--yes").exits(s, 0).shows(s, "Nothing to do")
}

func (s *scene) testWorkloads(t *testing.T) {
	ns := s.namespace("workloads")
	deployment := s.create(workload("Deployment", ns, "web"))
	set, importing, cron := s.create(retaining(ns, "Delete")), s.create(job(ns, "import")), s.create(cronJob(ns, "nightly"))
	replicated := s.create(newObject("v1", "ReplicationController", ns, "old", withField("spec", map[string]any{
		"replicas": int64(2), "selector": map[string]any{"app": "old"}, "template": template("old"),
	})))
	daemon := s.create(workload("DaemonSet", ns, "agent"))
	cache := s.create(widget(ns, "cache"))
	s.awaitValue(deployment, 2, "status", "replicas")
	s.patch(deployment, `{"spec":{"template":{"metadata":{"annotations":{"revision":"two"}}}}}`)
	running := s.create(job(ns, "nightly-1", ownedBy(referenceTo(cron, controlling, blocking))))
	below := s.create(configMap(ns, "cache", ownedBy(referenceTo(cache, controlling, blocking))))
	s.create(secret(ns, "cache", ownedBy(referenceTo(below), referenceTo(cache))))
	s.awaitValue(deployment, 3, "status", "replicas")
	for _, o := range []object{importing, running} {
		s.awaitValue(o, 2, "status", "active")
	}
	s.awaitValue(set, 2, "status", "currentReplicas")
	s.awaitValue(replicated, 2, "status", "replicas")
	s.awaitValue(daemon, 1, "status", "observedGeneration")
	s.await("claims to belong to their set", func(context.Context) (bool, error) {
		return strings.Count(strings.Join(s.links(ns), "\n"), "PersistentVolumeClaim/data-set-") == 2, nil
	})
	pods := s.count(pod(ns, ""))
	s.deleteAndRestore(ns, []string{
		"deployment/web", "statefulset/set", "job/import", "cronjob/nightly", "replicationcontroller/old", "daemonset/agent", "widget/cache",
	}, "adopted by Deployment/web", "adopted by StatefulSet/set", "adopted by Job/import", "owned by Widget/cache, which is recreated",
		"Not restored:", "they count their Pods from zero")
	for _, o := range []object{deployment, set, replicated, daemon} {
		s.awaitValue(o, s.live(o).GetGeneration(), "status", "observedGeneration")
	}
	s.awaitValue(importing, 2, "status", "active")
	if now := s.count(pod(ns, "")); now != pods {
		t.Errorf("there are %d Pods, and there were %d", now, pods)
	}
}

// count returns the number of objects of a kind in a namespace.
func (s *scene) count(o object) int {
	s.Helper()
	list, err := s.client(o).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	return len(list.Items)
}

// Neither a completed Job nor its Pods are restored, as they would run again.
func TestRestoreDoesNotRunCompletedJobAgain(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("finished")
	done := s.create(job(ns, "done"))
	s.awaitValue(done, 2, "status", "active")
	list, err := s.client(pod(ns, "")).List(t.Context(), metav1.ListOptions{})
	s.must(err)
	for _, p := range list.Items {
		p.Object["status"] = map[string]any{"phase": "Succeeded"}
		_, err := s.client(pod(ns, "")).UpdateStatus(t.Context(), &p, metav1.UpdateOptions{})
		s.must(err)
	}
	s.awaitValue(done, 2, "status", "succeeded")
	s.await("the end of the Job", func(context.Context) (bool, error) {
		return strings.Contains(fmt.Sprint(s.live(done).Object["status"]), "Complete"), nil
	})
	folder := s.tool().runForBackup("delete", "-n", ns, "job/done")
	s.gc("restore", folder, "--yes").exits(t, 0).shows(t,
		"it had finished: if recreated, it would run again", "completion of finished Jobs, which was in their status: they are created suspended", "created 1 in ", "2 are left alone")
	s.awaitValue(done, true, "spec", "suspend")
	s.await("the controller to see it", func(context.Context) (bool, error) {
		return strings.Contains(fmt.Sprint(s.live(done).Object["status"]), "Suspended"), nil
	})
	if n := s.count(pod(ns, "")); n > 0 {
		t.Errorf("%d Pods run again", n)
	}
}

// A claim whose volume still exists waits until the volume is released from the old claim, with
// the command that the preview shows, and then has its data again. A claim whose volume is
// provisioned again is bound to the new one.
func TestRestoreOfClaims(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("claims")
	volume, claim := map[string]object{}, map[string]object{}
	for _, name := range []string{"kept", "gone"} {
		class := name + "-" + ns
		volume[name] = s.create(newObject("v1", "PersistentVolume", "", class, withField("spec", map[string]any{
			"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "persistentVolumeReclaimPolicy": "Retain",
			"hostPath": map[string]any{"path": "/none"}, "storageClassName": class,
		})))
		claim[name] = s.create(claimOf(ns, name, func(o object) { o.Object["spec"].(map[string]any)["storageClassName"] = class }))
	}
	for name := range claim {
		s.awaitValue(claim[name], "Bound", "status", "phase")
	}
	folder := s.tool().runForBackup("delete", "-n", ns, "persistentvolumeclaim/kept", "persistentvolumeclaim/gone", "persistentvolume/"+volume["gone"].GetName())
	s.awaitValue(volume["kept"], "Released", "status", "phase")
	r := s.gc("restore", folder, "--yes").exits(t, 0).shows(t, "created 3 in ", "data on PersistentVolumes: they are recreated")
	_, command, found := strings.Cut(r.Stdout, "until you clear it: kubectl ")
	command, _, _ = strings.Cut(command, "': ")
	if !found {
		t.Fatal(r.Stdout)
	}
	s.awaitValue(claim["kept"], "Pending", "status", "phase")
	words := strings.SplitN(strings.TrimSpace(command), " ", 6)
	s.kubectl(append(words[:5], strings.Trim(words[5], "'"))...).exits(t, 0)
	for name := range claim {
		s.awaitValue(claim[name], "Bound", "status", "phase")
		s.awaitValue(volume[name], "Bound", "status", "phase")
	}
}
