package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	recorded "github.com/kubectl-gc/kubectl-gc/pkg/event"
	gcobject "github.com/kubectl-gc/kubectl-gc/pkg/object"
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
		"it had finished: if recreated, it would run again", "completion of finished Jobs, which was in their status: they are created suspended", "created 1 in ", "leaves 2 alone")
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
	r.shows(t, "the new claim waits until you remove spec.claimRef.uid from it")
	s.awaitValue(claim["kept"], "Pending", "status", "phase")
	s.kubectl("patch", "pv", volume["kept"].GetName(), "--type=json", "-p", `[{"op":"remove","path":"/spec/claimRef/uid"}]`).exits(t, 0)
	for name := range claim {
		s.awaitValue(claim[name], "Bound", "status", "phase")
		s.awaitValue(volume[name], "Bound", "status", "phase")
	}
}

// deleteForBackup deletes targets without a collector, and returns the folder of the backup.
func (s *scene) deleteForBackup(ns string, targets ...string) (folder string) {
	s.Helper()
	return s.tool().runForBackup(append([]string{"delete", "--client-side", "-n", ns}, targets...)...)
}

func TestRestoreContinuesAfterKill(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("revived")
	top := s.create(widget(ns, "top"))
	for i := range 20 {
		middle := s.create(configMap(ns, "middle-"+string(rune('a'+i)), ownedBy(referenceTo(top, controlling, blocking))))
		s.create(secret(ns, "below-"+string(rune('a'+i)), ownedBy(referenceTo(middle), referenceTo(top))))
	}
	names, links := s.names(ns), s.links(ns)
	folder := s.deleteForBackup(ns, "widget/top")
	for _, after := range []int64{1, 9, 17} { // the number of requests before it is killed
		var n atomic.Int64
		full := make(chan struct{})
		f := s.throughProxy(func(through http.Handler) []fault {
			return []fault{{
				matches: writing(anyRequest),
				answer: func(w http.ResponseWriter, r *http.Request) {
					switch seen := n.Add(1); {
					case seen < after:
						through.ServeHTTP(w, r)
					case seen == after: // the server executes the request, but the client gets no response
						through.ServeHTTP(discarded{}, r)
						close(full)
						fallthrough
					default:
						stall(w, r)
					}
				},
			}}
		}).allowWrites()
		p := f.start("restore", folder, "--yes", "--to-another-cluster", "--concurrency=4")
		<-full
		s.gc("restore", folder, "--yes").exits(t, 2).warns(t, "another restore of this backup is running")
		s.must(p.cmd.Process.Kill())
		p.wait().exits(t, -1)
	}
	if cmp.Equal(names, s.names(ns)) {
		t.Fatal("it was not killed in the middle")
	}
	s.gc("restore", folder, "--yes").exits(t, 0).warns(t, "An earlier restore created ").
		shows(t, "created ", "a scan afterwards found nothing left to do.")
	if diff := cmp.Diff(names, s.names(ns)); diff != "" {
		t.Errorf("the tree has changed (-before +after)\n%s", diff)
	}
	if diff := cmp.Diff(links, s.links(ns)); diff != "" {
		t.Errorf("the references have changed (-before +after)\n%s", diff)
	}
	s.mustHaveNoFindings(ns)
}

// discarded is a response that is thrown away.
type discarded struct{}

func (discarded) Header() http.Header         { return http.Header{} }
func (discarded) Write(p []byte) (int, error) { return len(p), nil }
func (discarded) WriteHeader(int)             {}

func TestRestoreKeepsExistingObjectsAndLinksSurvivors(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("beside")
	owner, other := s.create(widget(ns, "owner")), s.create(secret(ns, "other"))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner, blocking), referenceTo(other))))
	s.create(configMap(ns, "taken", ownedBy(referenceTo(owner)), withField("data", map[string]any{"made": "before"})))
	s.create(configMap(ns, "free", ownedBy(referenceTo(owner))))
	links := s.links(ns)
	folder := s.deleteForBackup(ns, "widget/owner")
	taken := s.create(configMap(ns, "taken", withField("data", map[string]any{"made": "since"})))
	if refs := s.live(shared).GetOwnerReferences(); len(refs) != 1 {
		t.Fatalf("the shared one has %v", refs)
	}
	s.gc("restore", folder, "--yes").exits(t, 0).shows(t,
		"leave   "+ns, "ConfigMap/taken", "an object with this name exists already, created 20", "ConfigMap/shared", "create 2, link 1 in namespace "+ns+" on ", "; leaves 1 alone. Complete scan.", "created 2, linked 1 in ")
	s.requireUnchanged(taken)
	taken = s.live(taken)
	s.must(s.client(taken).Delete(t.Context(), "taken", metav1.DeleteOptions{}))
	s.gc("restore", folder, "--yes").exits(t, 0).warns(t, "An earlier restore created 2 of the objects.").shows(t, "created 1 in ")
	if got := s.live(taken).Object["data"]; !cmp.Equal(got, map[string]any{"made": "before"}) {
		t.Errorf("it holds %v", got)
	}
	if diff := cmp.Diff(links, s.links(ns)); diff != "" {
		t.Errorf("the references have changed (-before +after)\n%s", diff)
	}
	s.mustHaveNoFindings(ns)
}

// Velero restored objects whose references had the UIDs of deleted owners, and the collector
// deleted them at once (velero#10556, #4707).
func TestRestoreWithoutOwnersIsNotCollected(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("velero")
	owner := s.create(widget(ns, "owner"))
	s.create(secret(ns, "stale", ownedBy(referenceTo(owner))))
	s.create(secret(ns, "lost", ownedBy(missingOwner())))
	s.replace(owner)
	folder := s.tool().runForBackup("collect", "-n", ns)
	if n := s.count(secret(ns, "")); n != 0 {
		t.Fatalf("%d Secrets are left", n)
	}
	s.gc("restore", folder, "--yes").exits(t, 0).shows(t, "owned by Widget/owner, which is a newer object with the same name", "references to Secret/gone, which does not exist")
	s.mustHaveNoFindings(ns)
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "Nothing to do")

	// They are restored only if the user insists.
	folder = s.deleteForBackup(ns, "secret/stale", "secret/lost")
	s.must(s.client(owner).Delete(t.Context(), "owner", metav1.DeleteOptions{}))
	s.gc("restore", folder, "--exact", "--yes").exits(t, 0).
		warns(t, "warning: --exact restores references that lead to no owner: the garbage collector will act on 1 of these objects").
		shows(t, "the garbage collector will delete the object because of it")
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "delete 1 in namespace ")
}

func TestRestoreOfServiceWithTakenClusterIP(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("service")
	spec := map[string]any{"ports": []any{map[string]any{"port": int64(80), "protocol": "TCP"}}}
	before := s.create(newObject("v1", "Service", ns, "web", withField("spec", spec)))
	ip := before.Object["spec"].(map[string]any)["clusterIP"]
	folder := s.deleteForBackup(ns, "service/web")
	spec["clusterIP"] = ip
	s.create(newObject("v1", "Service", ns, "thief", withField("spec", spec)))
	s.gc("restore", folder, "--yes").exits(t, 0).shows(t, "clusterIP or nodePort of a Service, if it is taken now: the Service gets another", "created 1 in ")
	if now := s.live(before).Object["spec"].(map[string]any)["clusterIP"]; now == ip || now == "" {
		t.Errorf("it has %v, and had %v", now, ip)
	}
	notes := s.restoredResults(folder)
	if len(notes) != 1 || notes[0].UID != s.live(before).GetUID() || notes[0].Object.UID != before.GetUID() {
		t.Errorf("noted: %+v", notes)
	}
}

// Each refusal states the error on a line of its own, and nothing is created.
func TestRestoreRefusals(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("refused")
	s.create(configMap(ns, "doomed"))
	folder := s.deleteForBackup(ns, "configmap/doomed")
	for name, c := range map[string]struct {
		args  []string
		code  int
		words []string
	}{
		"without confirmation":       {[]string{folder}, 4, []string{"error: cannot ask for confirmation: standard input is not a terminal", "hint: use --yes, or --confirm "}},
		"the digest of another plan": {[]string{folder, "--confirm", "0123456789abcdef"}, 4, []string{"error: the plan differs from the confirmed one"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			s.gc(append([]string{"restore"}, c.args...)...).exits(t, c.code).warns(t, c.words...)
			if n := s.count(configMap(ns, "")); n != 0 {
				t.Errorf("%d were made", n)
			}
		})
	}
	t.Run("the same cluster has another URL", func(t *testing.T) {
		s := s.forSubtest(t)
		s.throughProxy(nil).gc("restore", folder, "--dry-run").exits(t, 0)
	})
	t.Run("a user who sees nothing of the cluster that the backup knows", func(t *testing.T) {
		s := s.forSubtest(t)
		other := s.namespace("elsewhere")
		s.grant("carol", other, []any{"*"}, []any{"*"}, []any{"list", "get", "delete", "create", "patch"})
		s.create(configMap(other, "doomed"))
		s.toolAs("carol").gc("restore", folder, "-n", ns, "--yes").exits(t, 2)
		s.toolAs("carol").gc("restore", folder, "--yes").exits(t, 2)
	})
	t.Run("admission denies the requests", func(t *testing.T) {
		s := s.forSubtest(t)
		quota := s.create(newObject("v1", "ResourceQuota", ns, "none", withField("spec", map[string]any{"hard": map[string]any{"count/configmaps": "0"}})))
		s.patchStatus(quota, `{"status":{"hard":{"count/configmaps":"0"},"used":{"count/configmaps":"0"}}}`)
		s.gc("restore", folder, "--yes").exits(t, 1).shows(t, "exceeded quota: none", "(raise that quota or make room, and run it again)")
	})
	if r := s.gc("restore", folder, "--confirm", s.dryRunDigest("restore", folder)).exits(t, 0); !strings.Contains(r.Stdout, "created 1 in ") {
		t.Error(r.Stdout)
	}
}

// A backup may have been written by anybody: the scope of an object is that of its type, whatever its manifest says.
func TestRestoreOfOneNamespaceGivesNoRightsElsewhere(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("written")
	kubeSystem := s.live(newObject("v1", "Namespace", "", "kube-system"))
	written, err := backup.Create(t.TempDir(), "written", backup.Header{ClusterUID: string(kubeSystem.GetUID()), Command: "trace", Mode: backup.FromLog, Started: time.Now()}, nil)
	s.must(err)
	manifests := []object{
		newObject("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", ns, "written-admin",
			withField("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}),
			withField("subjects", []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"}})),
		newObject("rbac.authorization.k8s.io/v1", "RoleBinding", ns, "written-view",
			withField("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"})),
	}
	for i, o := range manifests {
		o.SetUID(types.UID(fmt.Sprint("written-", i)))
		raw, err := o.MarshalJSON()
		s.must(err)
		s.must(written.Save(gcobject.FromMeta(o.GetAPIVersion(), o.GetKind(), o, false), raw))
	}
	s.must(written.Finish(time.Now()))
	s.must(written.Close())
	for range 2 {
		s.gc("restore", written.Path(), "-n", ns, "--yes").exits(t, 0).
			shows(t, "ClusterRoleBinding/written-admin", "its manifest names a namespace, but objects of its type are in none")
	}
	s.gc("restore", written.Path(), "--yes").exits(t, 0).shows(t, "Nothing to do")
	if _, err := s.client(manifests[0]).Get(t.Context(), "written-admin", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("mallory is an administrator: %v", err)
	}
	s.must(s.client(manifests[1]).Delete(t.Context(), "written-view", metav1.DeleteOptions{}))
	s.gc("restore", written.Path(), "-n", ns, "--dry-run").exits(t, 0).
		shows(t, "Gives rights, or decides what the API server accepts: RoleBinding/written-view -n "+ns+".\n")
}

// dryRunDigest returns the digest of a dry run.
func (s *scene) dryRunDigest(args ...string) string {
	s.Helper()
	r := s.gc(append(args, "--dry-run", "-o", "jsonpath={.digest}")...).exits(s, 0)
	return strings.TrimSpace(r.Stdout)
}

// patchStatus changes the status of an object.
func (s *scene) patchStatus(o object, body string) {
	s.Helper()
	_, err := s.client(o).Patch(s.Context(), o.GetName(), types.MergePatchType, []byte(body), metav1.PatchOptions{}, "status")
	s.must(err)
}

// The backup of a repair holds the references that it changed, so a repair can be undone:
// exactly, if the user insists.
func TestRestoreUndoesRepair(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("repaired")
	owner, kept := s.create(widget(ns, "owner")), s.create(widget(ns, "kept"))
	stale := s.create(secret(ns, "stale", ownedBy(referenceTo(owner, blocking))))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(kept), missingOwner())))
	s.replace(owner)
	dir := t.TempDir()
	s.gc("repair", "-n", ns, "--yes", "--backup-dir", dir).exits(t, 0).shows(t, "Undo: kubectl gc restore ")
	folder := onlyFolder(t, dir)
	repaired := s.links(ns)
	s.gc("restore", folder, "--yes").exits(t, 0).shows(t, "Nothing to do",
		"references to Widget/owner, which was replaced: they already point at the newer object with the same name: Secret/stale",
		"references to Secret/gone, which does not exist: ConfigMap/shared")
	if diff := cmp.Diff(repaired, s.links(ns)); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
	s.gc("restore", folder, "--exact", "--yes").exits(t, 0).shows(t, "linked 2 in ", "the garbage collector will delete the object because of it", "the garbage collector will remove it again")
	for _, o := range []object{stale, shared} {
		got, want := s.live(o).GetOwnerReferences(), o.GetOwnerReferences()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-before +after)\n%s", o.GetName(), diff)
		}
	}
}

func TestRestoreByBackupName(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("named")
	home := t.TempDir()
	at := s.tool()
	at.env = append(at.env, "HOME="+home)
	at.gc("restore").exits(t, 0).warns(t, "No backups in "+home)
	doomed := s.create(configMap(ns, "doomed"))
	at.gc("delete", "--client-side", "configmap/doomed", "-n", ns, "--yes").exits(t, 0)
	r := at.gc("restore").exits(t, 0).shows(t, "BACKUP", "delete ConfigMap/doomed", ns, "complete")
	name := strings.Fields(strings.Split(r.Stdout, "\n")[1])[0]
	at.gc("why", "configmap/doomed", "-n", ns).exits(t, 0).shows(t, "is gone: kubectl gc delete deleted it at ", "undo that", name)

	mine, err := filepath.Glob(filepath.Join(home, ".kube", "gc-backup", "*", name))
	if err != nil || len(mine) != 1 {
		t.Fatal(mine, err)
	}
	elsewhere, err := backup.Create(filepath.Join(home, ".kube", "gc-backup", "elsewhere"), "2999-01-01T00-00-00Z", backup.Header{
		Tool: "v0", ClusterUID: "another", Server: "https://elsewhere", Command: "delete", Mode: "delete", Digest: "0123456789abcdef", Started: time.Now().UTC(),
	}, nil)
	if err != nil || elsewhere.Close() != nil {
		t.Fatal(err)
	}
	at.gc("restore").exits(t, 0).inOrder(t, "2999-01-01T00-00-00Z", "another, elsewhere", name, "this one")
	at.gc("restore", "latest", "--dry-run").exits(t, 0).warns(t, "The latest backup of this cluster: "+mine[0]+" (delete ConfigMap/doomed)").shows(t, "create 1 in ")
	at.gc("restore", "2999-01-01T00-00-00Z", "--yes").exits(t, 2).warns(t, "error: the backup is of another cluster: ")
	at.gc("restore", "latest", "configmap/doomd").exits(t, 2).warns(t, `error: the backup has no "configmap/doomd"; it has: ConfigMap/doomed`)

	asked := at.atTerminal("restore", name)
	asked.awaitText("? Type yes to confirm: ")
	asked.press("no\n")
	asked.wait().exits(t, 4)
	if !s.gone(doomed) || s.count(configMap(ns, "")) != 0 {
		t.Error("it was created")
	}
	asked = at.atTerminal("restore", name)
	asked.awaitText("? Type yes to confirm: ")
	meanwhile := s.create(configMap(ns, "doomed"))
	asked.press("yes\n")
	asked.wait().exits(t, 4).shows(t, "the cluster changed while you were reading, and the plan would be different now: nothing was changed")
	s.requireUnchanged(meanwhile)
	s.remove(meanwhile, metav1.DeletePropagationBackground)
	asked = at.atTerminal("restore", name)
	asked.awaitText("? Type yes to confirm: ")
	asked.press("yes\n")
	asked.wait().exits(t, 0).shows(t, "created 1 in ")
	at.gc("restore").exits(t, 0).shows(t, "restored 1 of 1")
	if n := s.count(configMap(ns, "")); n != 1 {
		t.Errorf("%d were made", n)
	}
}

// runForBackup runs a command that deletes, and returns the folder of its backup.
func (t tool) runForBackup(args ...string) (folder string) {
	t.Helper()
	dir := t.TempDir()
	t.gc(append(args, "--yes", "--backup-dir", dir)...).exits(t, 0).shows(t, "Undo: kubectl gc restore "+dir)
	return onlyFolder(t, dir)
}

// onlyFolder returns the only backup below a folder.
func onlyFolder(t testing.TB, dir string) string {
	t.Helper()
	folders, err := os.ReadDir(dir)
	if err != nil || len(folders) != 1 {
		t.Fatalf("there are %d backups: %v", len(folders), err)
	}
	return filepath.Join(dir, folders[0].Name())
}

// names returns the objects in the tree of a namespace, sorted.
func (s *scene) names(ns string) []string {
	s.Helper()
	return slices.Sorted(strings.Lines(s.gc("tree", "-n", ns, "-o", "name").exits(s, 0).Stdout))
}

// links returns the owner references in a namespace, by the names of both objects.
func (s *scene) links(ns string) []string {
	s.Helper()
	seen := s.scan(inNamespace(ns)).seen
	known := map[types.UID]string{}
	for i := range seen.Objects {
		known[seen.Objects[i].UID] = seen.Objects[i].String()
	}
	for _, l := range seen.Lookups {
		if l.Object != nil {
			known[l.Object.UID] = l.Object.String()
		}
	}
	var out []string
	for _, o := range seen.Objects {
		for _, r := range o.Owners {
			owner, found := known[r.UID]
			if !found {
				owner = "nobody"
			}
			out = append(out, fmt.Sprintf("%s of %s, said to be %s (controller %t, blocks %t)", o, owner, r, r.Controls(), r.Blocks()))
		}
	}
	slices.Sort(out)
	return out
}

// mustHaveNoFindings requires that audit finds nothing in a namespace.
func (s *scene) mustHaveNoFindings(ns string) {
	s.Helper()
	if r := s.tool().audit("-n", ns); len(r.Findings) > 0 {
		s.Errorf("audit finds %+v", r.Findings)
	}
}

// awaitValue waits until a field of an object has a value.
func (s *scene) awaitValue(o object, want any, path ...string) {
	s.Helper()
	s.await(fmt.Sprintf("%s of %s to be %v", strings.Join(path, "."), o.GetName(), want), func(ctx context.Context) (bool, error) {
		live, err := s.client(o).Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, nil // it does not exist yet
		}
		var at any = live.Object
		for _, field := range path {
			fields, _ := at.(map[string]any)
			at = fields[field]
		}
		return fmt.Sprint(at) == fmt.Sprint(want), nil
	})
}

// restoredResults returns the results of restorations in a backup.
func (s *scene) restoredResults(folder string) []recorded.Record {
	s.Helper()
	b, err := backup.Open(folder)
	s.must(err)
	defer b.Close()
	return b.Restored
}
