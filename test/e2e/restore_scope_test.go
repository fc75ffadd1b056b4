package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

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
		s.gc("restore", folder, "--yes").exits(t, 2).warns(t, "another restoration of this backup is under way")
		s.must(p.cmd.Process.Kill())
		p.wait().exits(t, -1)
	}
	if cmp.Equal(names, s.names(ns)) {
		t.Fatal("it was not killed in the middle")
	}
	s.gc("restore", folder, "--yes").exits(t, 0).warns(t, "An earlier restoration created ").
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
		"leave   "+ns, "ConfigMap/taken", "another object of that name exists, created 20", "ConfigMap/shared", "create 2, link 1; 1 is left alone. Complete scan.", "created 2, linked 1 in ")
	s.requireUnchanged(taken)
	taken = s.live(taken)
	s.must(s.client(taken).Delete(t.Context(), "taken", metav1.DeleteOptions{}))
	s.gc("restore", folder, "--yes").exits(t, 0).warns(t, "An earlier restoration created 2 of the objects.").shows(t, "created 1 in ")
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
	s.gc("restore", folder, "--yes").exits(t, 0).shows(t, "owned by Widget/owner, which is a newer object of that name", "references to Secret/gone, which does not exist")
	s.mustHaveNoFindings(ns)
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "Nothing to do")

	// They are restored only if the user insists.
	folder = s.deleteForBackup(ns, "secret/stale", "secret/lost")
	s.must(s.client(owner).Delete(t.Context(), "owner", metav1.DeleteOptions{}))
	s.gc("restore", folder, "--exact", "--yes").exits(t, 0).
		warns(t, "warning: --exact restores references that lead to no owner: the garbage collector will act on 1 of these objects").
		shows(t, "the garbage collector will delete the object because of it")
	s.gc("collect", "-n", ns, "--dry-run").exits(t, 0).shows(t, "delete 1.")
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
		"without confirmation":       {[]string{folder}, 4, []string{"error: not confirmed: standard input is not a terminal", "hint: use --yes, or --confirm "}},
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
	t.Run("a user without permission to read Namespace kube-system", func(t *testing.T) {
		s := s.forSubtest(t)
		s.grant("carol", ns, []any{"*"}, []any{"*"}, []any{"list", "get", "delete", "create", "patch"})
		s.create(configMap(ns, "unidentified", ownedBy(missingOwner())))
		carol := s.toolAs("carol")
		dir := t.TempDir()
		carol.gc("collect", "-n", ns, "--yes", "--backup-dir", dir).exits(t, 0).
			warns(t, "warning: cannot identify this cluster, so its backup can be restored only with --to-another-cluster: ")
		s.gc("restore", onlyFolder(t, dir), "--yes").exits(t, 2).warns(t, "error: the backup does not record its cluster; ")
		carol.gc("restore", folder, "--yes").exits(t, 2).warns(t, "error: cannot verify that the backup is of this cluster: ")
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
	ns := s.namespace("mended")
	owner, kept := s.create(widget(ns, "owner")), s.create(widget(ns, "kept"))
	stale := s.create(secret(ns, "stale", ownedBy(referenceTo(owner, blocking))))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(kept), missingOwner())))
	s.replace(owner)
	dir := t.TempDir()
	s.gc("repair", "-n", ns, "--yes", "--backup-dir", dir).exits(t, 0).shows(t, "Undo: kubectl gc restore ")
	folder := onlyFolder(t, dir)
	repaired := s.links(ns)
	s.gc("restore", folder, "--yes").exits(t, 0).shows(t, "Nothing to do",
		"references to Widget/owner, which was replaced: they already point at the newer object of that name: Secret/stale",
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
	r := at.gc("restore").exits(t, 0).shows(t, "BACKUP", "delete", "1 object", "complete")
	name := strings.Fields(strings.Split(r.Stdout, "\n")[1])[0]

	asked := at.atTerminal("restore", name)
	asked.awaitText("Create 1 object, link 0? Type yes: ")
	asked.press("no\n")
	asked.wait().exits(t, 4)
	if !s.gone(doomed) || s.count(configMap(ns, "")) != 0 {
		t.Error("it was created")
	}
	asked = at.atTerminal("restore", name)
	asked.awaitText("Create 1 object, link 0? Type yes: ")
	meanwhile := s.create(configMap(ns, "doomed"))
	asked.press("yes\n")
	asked.wait().exits(t, 4).shows(t, "the cluster changed while you were reading, and the plan would be different now: nothing was changed")
	s.requireUnchanged(meanwhile)
	s.remove(meanwhile, metav1.DeletePropagationBackground)
	asked = at.atTerminal("restore", name)
	asked.awaitText("Create 1 object, link 0? Type yes: ")
	asked.press("yes\n")
	asked.wait().exits(t, 0).shows(t, "created 1 in ")
	at.gc("restore").exits(t, 0).shows(t, "1 object   1         complete")
	if n := s.count(configMap(ns, "")); n != 1 {
		t.Errorf("%d were made", n)
	}
}
