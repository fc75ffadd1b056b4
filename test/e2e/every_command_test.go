package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shop is a namespace with garbage, for the commands of TestEveryCommand.
type shop struct {
	*scene
	ns      string
	holders map[string]string // users by the role that they have
	backups string
}

// gc runs a command in the namespace. Whatever the objects are called, no output may control a terminal.
func (s shop) gc(args ...string) result {
	s.Helper()
	r := s.tool().gc(append(args, "-n", s.ns)...)
	for stream, content := range map[string]string{"stdout": r.Stdout, "stderr": r.Stderr} {
		if err := safeForTerminal(content); err != nil {
			s.Errorf("%s of kubectl gc %s has %v", stream, r.output(), err)
		}
	}
	return r
}

// as runs a command in the namespace as the user who has only this role.
func (s shop) as(role string, args ...string) result {
	s.Helper()
	return s.gc(append(args, "--as", s.holders[role])...)
}

// refuses requires that a command sends nothing for a user with a role that lacks a right.
func (s shop) refuses(role string, args ...string) {
	s.Helper()
	s.as(role, append(args, "--yes", "--backup-dir", s.folder("refused"))...).exits(s, 1).warns(s, "you are not allowed to ", "nothing was changed")
}

// folder returns a folder for the backups of one command.
func (s shop) folder(name string) string { return filepath.Join(s.backups, name) }

// requireSaved requires a single backup, which only its owner can read, with exactly these objects.
func (s shop) requireSaved(name string, objects ...object) (folder string) {
	s.Helper()
	folder = onlyFolder(s, s.folder(name))
	s.requirePrivate(s.folder(name))
	saved := s.backupManifests(folder)
	for _, o := range objects {
		if diff := sameObject(o, saved[string(o.GetUID())]); diff != "" {
			s.Errorf("%s/%s is not backed up as it was: %s", o.GetKind(), o.GetName(), diff)
		}
	}
	if len(saved) != len(objects) {
		s.Errorf("the backup has %d objects, want %d", len(saved), len(objects))
	}
	return folder
}

// TestEveryCommand takes every command through its main path on one control plane, as admin and with the
// roles of docs/rbac. Nothing collects garbage there until the real collector is started for the last steps.
func TestEveryCommand(t *testing.T) {
	all := withRealCollector.newScene(t)
	common := shop{all, all.namespace("shop"), map[string]string{"configmaps only": "clerk"}, t.TempDir()}
	for _, role := range all.shippedRoles() {
		// Other tests may have defined their kinds, which these roles do not name.
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{customGroup}, Resources: []string{"*"}, Verbs: role.Rules[0].Verbs})
		if role.Name == "gc-controller" {
			role.Rules = append(role.Rules, all.leaseRules()...)
		}
		common.holders[role.Name] = all.userWithRole("", role)
		if role.Name == "gc-scan" {
			common.holders["list only"] = all.userWithRole("", limitedTo([]string{"list"}, role))
		}
	}
	all.grant("clerk", "", []any{""}, []any{"configmaps"}, []any{"list", "get", "patch", "delete"})

	ns := common.ns
	redis := all.create(secret(all.namespace("elsewhere"), "redis"))
	owner := all.create(secret(ns, "owner"))
	orphan := all.create(configMap(ns, "orphan", ownedBy(missingOwner()), withField("data", map[string]any{"k": "v"})))
	below := all.create(secret(ns, "below", ownedBy(referenceTo(orphan))))
	crossing := all.create(configMap(ns, "crossing", ownedBy(referenceTo(redis))))
	shared := all.create(configMap(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	replaced := all.create(configMap(ns, "replaced", ownedBy(withFormerUID(referenceTo(owner, controlling)))))
	hostile := all.create(configMap(ns, "hostile", ownedBy(reference("v1", "\x1b[2JForged", "\x1b]0;owned\x07", owner.GetUID()))))
	held := all.create(configMap(ns, "held", heldBy(hold)))
	everything := []object{owner, orphan, below, crossing, shared, replaced, hostile, held}
	wrong := []string{
		"error cross-namespace-owner: ConfigMap/crossing: delete",
		"error unknown-owner-kind: ConfigMap/hostile: stuck",
		"error missing-owner: ConfigMap/orphan: delete",
		"error replaced-owner: ConfigMap/replaced: delete",
		"warning missing-owner: ConfigMap/shared: unlink",
	}

	step := func(name string, do func(t *testing.T, s shop)) {
		t.Helper()
		passed := t.Run(name, func(t *testing.T) {
			s := common
			s.scene = all.forSubtest(t)
			do(t, s)
		})
		if !passed {
			t.FailNow() // each step begins where the one before has ended
		}
	}
	step("version and completion need no cluster", func(t *testing.T, s shop) {
		away := s.tool()
		away.env = []string{"PATH=" + os.Getenv("PATH")}
		away.gc("version").exits(t, 0).shows(t, "kubectl-gc ")
		away.gc("completion", "bash").exits(t, 0).shows(t, "complete ")
		away.gc("audit").exits(t, 2)
		away.gc("collekt").exits(t, 2)
	})
	step("audit finds what is wrong", func(t *testing.T, s shop) {
		got := decode[report](t, s.gc("audit", "-o", "json").exits(t, 1))
		checkReport(t, got)
		if diff := cmp.Diff(wrong, got.briefIn(ns)); diff != "" || !got.Complete {
			t.Errorf("complete %t, findings (-want +got)\n%s", got.Complete, diff)
		}
		s.gc("audit").exits(t, 1).shows(t, "Secret/gone does not exist", `\x1b`, "Complete scan")
		s.gc("audit", "--fail-on=never", "--cross-namespace").exits(t, 0).shows(t, "ConfigMap/crossing", "1 error in ").lacks(t, "missing-owner")
		s.gc("audit", "--rule=owner-cycle").exits(t, 0)
		s.kubectl("gc", "audit", "-n", ns, "--rule=owner-cycle", "--fail-on=warning").exits(t, 0)
	})
	step("tree and why explain it", func(t *testing.T, s shop) {
		s.gc("tree").exits(t, 0).shows(t, "ConfigMap/orphan", "└─ Secret/below", `\x1b`)
		s.gc("why", "configmap/orphan").exits(t, 0).shows(t, "The garbage collector will delete ConfigMap/orphan", "also deletes 1 Secret")
		s.gc("why", "configmap/hostile").exits(t, 0).shows(t, `\x1b`)
		s.gc("why", "configmap/none").exits(t, 1)
		s.gc("tree", "configmap/none").exits(t, 2)
	})
	step("a snapshot gives the same answers", func(t *testing.T, s shop) {
		file := s.folder("cluster.json.gz")
		s.tool().gc("snapshot", "-o", file).exits(t, 0)
		for _, args := range [][]string{{"audit", "-o", "json"}, {"tree", "-o", "json"}, {"collect", "--dry-run", "-o", "json"}} {
			s.sameFromFile(file, append(args, "-n", ns)...)
		}
	})
	step("readers need no more than gc-scan", func(t *testing.T, s shop) {
		got := decode[report](t, s.as("gc-scan", "audit", "--strict", "-o", "json").exits(t, 1))
		if diff := cmp.Diff(wrong, got.briefIn(ns)); diff != "" {
			t.Errorf("findings (-want +got)\n%s", diff)
		}
		s.as("gc-scan", "tree", "--strict").exits(t, 0).shows(t, "└─ Secret/below")
		s.as("gc-scan", "why", "configmap/orphan", "--strict").exits(t, 0)
		s.as("gc-scan", "collect", "--dry-run", "--strict").exits(t, 0).shows(t, "Complete scan")
		s.as("gc-scan", "doctor", "--settle=1ms").exits(t, 1).shows(t, "to collect, not processed")
		s.gc("audit", "--as=nobody").exits(t, 2).warns(t, "you may not read anything", "the server forbids all ")
	})
	step("what may not be read is unknown, and nothing follows from it", func(t *testing.T, s shop) {
		got := decode[report](t, s.as("configmaps only", "audit", "-o", "json").exits(t, 1))
		concluded := slices.ContainsFunc(got.Findings, func(f finding) bool { return f.Consequence != "unknown" && f.Rule != "unknown-owner-kind" })
		if got.Complete || concluded {
			t.Errorf("complete %t, findings %q", got.Complete, got.briefIn(ns))
		}
		const unknown = "warning unverified-owner: ConfigMap/orphan: unknown"
		if found := decode[report](t, s.as("list only", "audit", "-o", "json").exits(t, 1)).briefIn(ns); !slices.Contains(found, unknown) {
			t.Errorf("without the right to get its owner: %q", found)
		}
		s.as("configmaps only", "audit", "--strict").exits(t, 3).shows(t, "Incomplete scan").warns(t, "could not read")
		s.as("configmaps only", "collect", "--dry-run", "--strict").exits(t, 3)
		s.as("configmaps only", "collect", "--yes", "--strict", "--no-backup").exits(t, 3)
		s.as("configmaps only", "collect", "--yes", "--no-backup").exits(t, 1).shows(t, "Nothing to do ", "Incomplete scan.")
		s.requireUnchanged(everything...)
	})

	step("repair keeps an object whose owner was replaced", func(t *testing.T, s shop) {
		s.gc("repair", "configmap/replaced").exits(t, 4).warns(t, "cannot ask for confirmation")
		s.refuses("gc-scan", "repair", "configmap/replaced")
		s.requireUnchanged(everything...)
		s.as("gc-repair", "repair", "configmap/replaced", "--yes", "--backup-dir", s.folder("repair")).exits(t, 0).
			shows(t, "relinked 1 in ", "a scan afterwards found nothing left to do.")
		s.requireReferences(replaced, referenceTo(owner, controlling))
		s.requireSaved("repair", replaced)
	})
	var digest string
	step("collect shows what it would do", func(t *testing.T, s shop) {
		plan := decode[planned](t, s.gc("collect", "--dry-run", "-o", "json").exits(t, 0))
		want := []string{"delete ConfigMap/crossing", "delete ConfigMap/orphan", "delete Secret/below", "unlink ConfigMap/shared"}
		if diff := cmp.Diff(want, plan.stepLines()); diff != "" {
			t.Errorf("steps (-want +got)\n%s", diff)
		}
		digest = plan.Digest
		s.gc("collect", "--dry-run=server").exits(t, 0).shows(t, "delete 3, unlink 1", "Nothing was changed")
		s.requireUnchanged(orphan, below, crossing, shared)
	})
	step("collect changes nothing without confirmation, or if a right is missing", func(t *testing.T, s shop) {
		s.gc("collect").exits(t, 4).warns(t, "standard input is not a terminal")
		s.gc("collect", "--confirm=0123456789abcdef").exits(t, 4).warns(t, "the plan differs from the confirmed one")
		s.gc("collect", "--yes", "--max-deletes=2").exits(t, 4).warns(t, "use --max-deletes 3")
		answer := func(keys string, meanwhile func()) result {
			tty := s.tool().atTerminal("collect", "-n", ns)
			tty.awaitText("Type 3 to confirm: ")
			meanwhile()
			tty.press(keys + "\n")
			return tty.wait()
		}
		answer("4", func() {}).exits(t, 4).shows(t, `Aborted: expected "3", got "4". Nothing was changed.`)
		late := configMap(ns, "late", ownedBy(missingOwner()))
		answer("3", func() { s.create(late) }).exits(t, 4).shows(t, "the cluster changed while you were reading")
		s.remove(late, metav1.DeletePropagationBackground)
		for _, role := range []string{"gc-repair", "gc-delete"} { // without delete, and without patch
			s.refuses(role, "collect")
		}
		s.requireUnchanged(orphan, below, crossing, shared)
	})
	step("collect does what it showed, and keeps a copy", func(t *testing.T, s shop) {
		s.as("gc-collect", "collect", "--confirm", digest, "--backup-dir", s.folder("collect")).exits(t, 0).
			shows(t, "deleted 3, unlinked 1 in ", "a scan afterwards found nothing left to do.")
		s.requireGone(orphan, below, crossing)
		s.requireReferences(shared, referenceTo(owner))
		s.requireUnchanged(hostile, held, owner)
		s.requireSaved("collect", orphan, below, crossing)
		s.gc("collect", "--yes").exits(t, 0).shows(t, "Nothing to do in namespace ", "Complete scan.")
	})
	step("restore recreates what was deleted, and links it", func(t *testing.T, s shop) {
		run := onlyFolder(t, s.folder("collect"))
		s.as("gc-scan", "restore", run, "--dry-run").exits(t, 0).shows(t, "create 3")
		s.gc("restore", run).exits(t, 4)
		s.as("gc-collect", "restore", run, "--yes").exits(t, 1).warns(t, "you are not allowed to create ", "nothing was changed")
		s.requireGone(orphan, below, crossing)
		s.as("gc-restore", "restore", run, "--yes").exits(t, 0).shows(t, "created 3 in ", "a scan afterwards found nothing left to do.")
		again := s.live(orphan)
		s.requireReferences(again)
		s.requireReferences(s.live(crossing))
		s.requireReferences(s.live(below), referenceTo(again))
		if data, _ := again.Object["data"].(map[string]any); data["k"] != "v" {
			t.Errorf("it restores %v", again.Object)
		}
	})
	step("collect decides again about an object that changes before its DELETE", func(t *testing.T, s shop) {
		late := s.create(configMap(ns, "late", ownedBy(missingOwner())))
		f := s.proxyCalling(deleting(single("configmaps", "late")), func() { s.setOwners(late, referenceTo(owner)) })
		f.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "skipped", "nothing was changed")
		s.requireReferences(late, referenceTo(owner))
	})
	step("finalizer remove completes a deletion", func(t *testing.T, s shop) {
		args := []string{"finalizer", "remove", "configmap/held", hold}
		s.gc(append(args, "--yes")...).exits(t, 2).warns(t, "is not being deleted")
		s.remove(held, metav1.DeletePropagationBackground)
		s.gc("stuck").exits(t, 0).shows(t, "ConfigMap/held", hold)
		marked := s.live(held)
		s.refuses("gc-scan", args...)
		s.requireUnchanged(marked)
		s.as("gc-repair", append(args, "--yes", "--backup-dir", s.folder("finalizer"))...).exits(t, 0).shows(t, "removed 1 finalizer in ")
		s.requireGone(held)
		s.requireSaved("finalizer", marked)
	})
	step("controller collects what becomes garbage, until it is interrupted", func(t *testing.T, s shop) {
		p := s.tool().start(runController(ns, s.folder("watch"), "--as", s.holders["gc-controller"])...)
		p.awaitText(collecting)
		parent := s.create(configMap(ns, "parent"))
		child := s.create(secret(ns, "child", ownedBy(referenceTo(parent))))
		s.remove(parent, metav1.DeletePropagationBackground)
		s.awaitGone(child)
		s.must(p.cmd.Process.Signal(syscall.SIGINT))
		p.wait().exits(t, 130).warns(t, "stopped: interrupted")
		s.requireSaved("watch", child)
		if holder := s.collectorLeader(ns); holder != "" {
			t.Errorf("the Lease is still held by %s", holder)
		}
	})

	all.startRealCollector()
	step("doctor sees the real collector at work", func(t *testing.T, s shop) {
		s.awaitProbe()
		d := s.tool().doctor(0, "--canary", ns)
		failed := slices.ContainsFunc(d.other(), func(check string) bool { return strings.HasPrefix(check, "fail ") })
		if d.State != "working" || d.Reason != "CollectorWorks" || failed {
			t.Errorf("it concludes %s, %s, with the checks %q", d.State, d.Reason, d.other())
		}
		s.requireNoCanary(ns)
	})
	step("delete ends as its preview says", func(t *testing.T, s shop) {
		root, leaf := s.live(orphan), s.live(below)
		kept := s.create(configMap(ns, "kept", ownedBy(referenceTo(root), referenceTo(owner))))
		s.as("gc-scan", "delete", "configmap/orphan", "--dry-run").exits(t, 0).shows(t, "├─ Secret/below", "delete 2, keep 1")
		s.gc("delete", "configmap/orphan").exits(t, 4)
		s.refuses("gc-scan", "delete", "configmap/orphan")
		s.requireUnchanged(root, leaf, kept)
		s.as("gc-delete", "delete", "configmap/orphan", "--yes", "--backup-dir", s.folder("delete")).exits(t, 0).
			shows(t, "deleted 2, unlinked 1 in ", "a scan afterwards found nothing left to do.")
		s.requireGone(root, leaf)
		s.requireReferences(kept, referenceTo(owner))
		s.requireSaved("delete", root, leaf)
		s.requireUnchanged(owner, hostile, s.live(redis))
	})
}
