package e2e

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// sceneWithCollector returns a scene in the environment with a running collector.
func sceneWithCollector(t *testing.T) *scene {
	t.Helper()
	s := withRealCollector.newScene(t)
	s.switchCollector(testcluster.On)
	t.Cleanup(func() { s.switchCollector(testcluster.Absent) })
	return s
}

func TestDeleteFollowsRealCollector(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("follow")
	family := func(name string) (owner, dependent, shared object) {
		owner = s.create(configMap(ns, name))
		dependent = s.create(secret(ns, name+"-below", ownedBy(referenceTo(owner, blocking))))
		shared = s.create(secret(ns, name+"-shared", ownedBy(referenceTo(owner), referenceTo(s.create(configMap(ns, name+"-other"))))))
		return owner, dependent, shared
	}

	t.Run("it waits for the end", func(t *testing.T) {
		s := s.forSubtest(t)
		owner, dependent, shared := family("end")
		s.gc("delete", "configmap/end", "-n", ns, "--yes").exits(t, 0).shows(t, "deleted 2, unlinked 1 in ", "; a scan afterwards found nothing left to do.")
		s.requireGone(owner, dependent)
		if refs := s.live(shared).GetOwnerReferences(); len(refs) != 1 || refs[0].Name != "end-other" {
			t.Errorf("the shared one has %v", refs)
		}
	})
	t.Run("foreground deletion", func(t *testing.T) {
		s := s.forSubtest(t)
		owner, dependent, _ := family("first")
		r := s.gc("delete", "configmap/first", "-n", ns, "--cascade=foreground", "--yes", "-o", "json").exits(t, 0)
		var result struct {
			Steps []struct{ Action, Status string }
		}
		s.must(json.Unmarshal([]byte(r.Stdout), &result))
		for _, step := range result.Steps {
			if step.Status != "done" {
				t.Errorf("%s: %s", step.Action, step.Status)
			}
		}
		if len(result.Steps) != 4 { // two deletions, a reference and a finalizer
			t.Errorf("%d steps", len(result.Steps))
		}
		s.requireGone(owner, dependent)
	})
	t.Run("--wait=false", func(t *testing.T) {
		s := s.forSubtest(t)
		owner, dependent, _ := family("unwatched")
		s.gc("delete", "configmap/unwatched", "-n", ns, "--yes", "--wait=false").exits(t, 0).
			shows(t, "deleted 1 in ", "; the cluster's garbage collector does the rest, and nothing was verified.")
		s.await("the collector", func(context.Context) (bool, error) { return s.gone(owner) && s.gone(dependent), nil })
	})
	t.Run("it reports what blocks the deletion", func(t *testing.T) {
		s := s.forSubtest(t)
		owner := s.create(configMap(ns, "hangs"))
		held := s.create(secret(ns, "hangs-below", ownedBy(referenceTo(owner, blocking)), heldBy("example.com/hold")))
		s.gc("delete", "configmap/hangs", "-n", ns, "--cascade=foreground", "--yes").exits(t, 1).
			shows(t, "blocked", "is blocked by Secret/hangs-below, which has been held by example.com/hold", "Deleted 0 of 2 in ", "ConfigMap/hangs is blocked by Secret/hangs-below, which has been held by example.com/hold", "A scan afterwards found 2 blocked: ConfigMap/hangs, Secret/hangs-below.")
		if s.gone(held) || s.gone(owner) {
			t.Error("what was held is gone")
		}
	})
	t.Run("JSON lines", func(t *testing.T) {
		s := s.forSubtest(t)
		family("lines")
		s.gc("delete", "configmap/lines", "-n", ns, "--yes", "-o", "jsonl").exits(t, 0).
			shows(t, `{"event":"backup"`, `"event":"started"`, `"event":"ended"`, `"status":"done"`, `{"event":"finished","done":3`, `"verification":"complete"}`)
	})
	t.Run("it asks for the number at a terminal", func(t *testing.T) {
		s := s.forSubtest(t)
		owner, dependent, _ := family("typed")
		tty := s.tool().atTerminal("delete", "configmap/typed", "-n", ns)
		tty.awaitText("Type 2 to confirm: ")
		s.requireUnchanged(owner, dependent)
		tty.press("2\n")
		tty.wait().exits(t, 0).inOrder(t, "delete", "keep", "delete 2, keep 1 in namespace ", "Complete scan.", "Delete 2 objects and change 1 in namespace ", "Type 2 to confirm: ", "delete █", "deleted 2, unlinked 1")
		s.requireGone(owner, dependent)
	})
}

// If no collector runs, the output says so and what to do about it.
func TestDeleteReportsMissingCollector(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("alone")
	owner := s.create(configMap(ns, "owner"))
	dependent := s.create(secret(ns, "dependent", ownedBy(referenceTo(owner))))
	s.gc("delete", "configmap/owner", "-n", ns, "--yes", "--timeout=2s").exits(t, 1).
		shows(t, "skipped", "Secret/dependent", "the cluster's garbage collector did not process it before the run ended").
		warns(t, "warning: the cluster's garbage collector has not processed 1 object yet: check that kube-controller-manager runs, or preview its work: kubectl gc collect --dry-run -n "+ns,
			"error: not finished within --timeout 2s; preview the rest: kubectl gc collect --dry-run -n "+ns)
	s.requireGone(owner)
	s.requireUnchanged(dependent)
	s.gc("collect", "-n", ns, "--yes").exits(t, 0).shows(t, "deleted 1")
	s.requireGone(dependent)
}

func TestDeleteStopsWaitingWhenInterrupted(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("cut")
	owner := s.create(configMap(ns, "owner"))
	dependent := s.create(secret(ns, "dependent", ownedBy(referenceTo(owner))))
	p := s.tool().start("delete", "configmap/owner", "-n", ns, "--yes", "-o", "jsonl")
	p.awaitText(`"event":"waiting"`)
	s.must(p.cmd.Process.Signal(os.Interrupt))
	r := p.wait().exits(t, 130).warns(t, "interrupted: 1 of 2 steps were done; the cluster's garbage collector continues with the rest")
	s.requireGone(owner)
	s.requireUnchanged(dependent)
	// Objects that the collector deletes afterwards are part of the result, and are restored as
	// well.
	s.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0)
	s.requireGone(dependent)
	var last struct{ Backup string }
	lines := strings.Split(strings.TrimSpace(r.Stdout), "\n")
	s.must(json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	s.gc("restore", last.Backup, "--yes").exits(t, 0).shows(t, "created 2")
	if refs := s.live(dependent).GetOwnerReferences(); len(refs) != 1 || refs[0].UID != s.live(owner).GetUID() {
		t.Errorf("the dependent comes back with %v", refs)
	}
}

func TestDeleteClientSideActsAsCollector(t *testing.T) {
	s := newScene(t)
	for _, policy := range []string{"background", "foreground", "orphan"} {
		t.Run(policy, func(t *testing.T) {
			s := s.forSubtest(t)
			ns := s.namespace("client-side")
			owner := s.create(configMap(ns, "owner"))
			dependent := s.create(secret(ns, "dependent", ownedBy(referenceTo(owner, blocking))))
			below := s.create(role(ns, "below", ownedBy(referenceTo(dependent))))
			s.gc("delete", "configmap/owner", "-n", ns, "--cascade="+policy, "--client-side", "--yes").exits(t, 0)
			s.requireGone(owner)
			if policy == "orphan" {
				s.requireUnchanged(below)
				s.requireReferences(dependent)
				return
			}
			s.requireGone(dependent, below)
		})
	}
}

// Without permission to watch, the run polls.
func TestDeleteFollowsCollectorWithoutPermissionToWatch(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("unwatched")
	owner := s.create(configMap(ns, "owner"))
	dependent := s.create(secret(ns, "dependent", ownedBy(referenceTo(owner))))
	page := rightsPage(t)
	user := s.userWithRole("", s.generatedRole(page, page.roles["delete"]))
	s.gc("delete", "configmap/owner", "-n", ns, "--yes", "--as", user).exits(t, 0).shows(t, "deleted 2 in ")
	s.requireGone(owner, dependent)
}

// previewDigest returns the digest at the end of a preview.
func (s *scene) previewDigest(r result) string {
	s.Helper()
	_, rest, found := strings.Cut(r.Stdout, "digest ")
	if !found || len(rest) < 16 {
		s.Fatalf("no digest: %s", r.Stdout)
	}
	return rest[:16]
}

// Each refusal states the error on a line of its own, and nothing is deleted. The refusals that need no cluster are
// tested in test/script.
func TestDeleteRefusals(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("refuse")
	there := s.create(configMap(ns, "there", labelled("app", "web")))
	s.create(secret(ns, "below", ownedBy(referenceTo(there))))
	other := s.namespace("refuse-other")
	for name, c := range map[string]struct {
		args  []string
		code  int
		words []string
	}{
		"a type alone":                            {[]string{"configmaps", "-n", ns}, 2, []string{`error: "configmaps" is a type: specify which of its objects`, "hint: use TYPE/NAME, -l SELECTOR, or --all"}},
		"no object with those labels":             {[]string{"configmap,secret", "-l", "app=none", "-n", ns}, 2, []string{`error: nothing matches: no "configmap", "secret" with labels "app=none" in namespace "` + ns + `"`}},
		"an object that does not exist":           {[]string{"configmap/gone", "-n", ns, "--yes"}, 2, []string{`error: "configmaps/gone" in namespace "` + ns + `" does not exist`, "kubectl gc why", "--ignore-not-found"}},
		"an object in another namespace":          {[]string{"configmap/there", "-n", other, "--yes"}, 2, []string{"does not exist"}},
		"without confirmation":                    {[]string{"configmap/there", "-n", ns}, 4, []string{"error: cannot ask for confirmation: standard input is not a terminal", "hint: use --yes, or --confirm "}},
		"the digest of another plan":              {[]string{"configmap/there", "-n", ns, "--confirm", "0123456789abcdef"}, 4, []string{"error: the plan differs from the confirmed one: its digest is ", "not 0123456789abcdef"}},
		"more than --max-deletes":                 {[]string{"configmap/there", "-n", ns, "--yes", "--max-deletes=1"}, 4, []string{"error: the plan deletes 2 objects, more than --max-deletes allows (1)"}},
		"a file for another namespace":            {[]string{"-f", s.writeFile("there.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: "+ns+"}}"), "-n", other}, 2, []string{"the namespace of ", "but -n is "}},
		"a file with an object that was replaced": {[]string{"-f", s.writeFile("old.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: "+ns+", uid: other}}"), "--yes"}, 2, []string{"it was recreated since"}},
		"a file with a kind that is not served":   {[]string{"-f", s.writeFile("gizmo.yaml", "{apiVersion: example.com/v1, kind: Gizmo, metadata: {name: x}}"), "--yes"}, 2, []string{`the server has no "Gizmo" in "example.com/v1"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			r := s.gc(append([]string{"delete"}, c.args...)...).exits(t, c.code).warns(t, c.words...)
			if c.code == 2 && (r.Stdout != "" || !strings.HasPrefix(r.Stderr, "error: ")) {
				t.Errorf("not an error alone: %s%s", r.Stdout, r.Stderr)
			}
			s.requireUnchanged(there)
		})
	}
}
