package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// Each refusal states the error on a line of its own, and nothing is deleted.
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
		"no target":                               {[]string{"-n", ns}, 2, []string{"error: nothing to delete given", "hint: use TYPE/NAME"}},
		"a type alone":                            {[]string{"configmaps", "-n", ns}, 2, []string{`error: "configmaps" is a type: specify which of its objects`, "hint: use TYPE/NAME, -l SELECTOR, or --all"}},
		"a name in all namespaces":                {[]string{"configmap/there", "-A"}, 2, []string{`error: "configmap/there" cannot be deleted by name in all namespaces`, "hint: use -n to choose its namespace"}},
		"a name with a selector":                  {[]string{"configmap/there", "-l", "app=web", "-n", ns}, 2, []string{"-l and --all need types, not names"}},
		"a selector and all":                      {[]string{"configmap", "-l", "app=web", "--all", "-n", ns}, 2, []string{"-l cannot be combined with --all"}},
		"no object with those labels":             {[]string{"configmap,secret", "-l", "app=none", "-n", ns}, 2, []string{`error: nothing matches: no "configmap", "secret" with labels "app=none" in namespace "` + ns + `"`}},
		"an object that does not exist":           {[]string{"configmap/gone", "-n", ns, "--yes"}, 2, []string{`error: "configmaps/gone" in namespace "` + ns + `" does not exist`, "kubectl gc why", "--ignore-not-found"}},
		"an object in another namespace":          {[]string{"configmap/there", "-n", other, "--yes"}, 2, []string{"does not exist"}},
		"an unknown type":                         {[]string{"gizmo/x", "-n", ns}, 2, []string{`the server has no resource type "gizmo"`}},
		"an unknown policy":                       {[]string{"configmap/there", "-n", ns, "--cascade=true"}, 2, []string{`error: --cascade "true": must be background, foreground or orphan`}},
		"without confirmation":                    {[]string{"configmap/there", "-n", ns}, 4, []string{"error: not confirmed: standard input is not a terminal", "hint: use --yes, or --confirm "}},
		"the digest of another plan":              {[]string{"configmap/there", "-n", ns, "--confirm", "0123456789abcdef"}, 4, []string{"error: the plan differs from the confirmed one: its digest is ", "not 0123456789abcdef"}},
		"more than --max-deletes":                 {[]string{"configmap/there", "-n", ns, "--yes", "--max-deletes=1"}, 4, []string{"error: the plan deletes 2 objects, more than --max-deletes allows (1)"}},
		"a missing file":                          {[]string{"-f", "/does/not/exist.yaml", "-n", ns}, 2, []string{"error: read manifests: ", "/does/not/exist.yaml"}},
		"a file and a name":                       {[]string{"configmap/there", "-f", "x.yaml", "-n", ns}, 2, []string{"-f cannot be combined with targets"}},
		"a file for another namespace":            {[]string{"-f", s.writeFile("there.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: "+ns+"}}"), "-n", other}, 2, []string{"the namespace of ", "but -n is "}},
		"a file with an object that was replaced": {[]string{"-f", s.writeFile("old.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: "+ns+", uid: other}}"), "--yes"}, 2, []string{"it was recreated since"}},
		"a file with a kind that is not served":   {[]string{"-f", s.writeFile("gizmo.yaml", "{apiVersion: example.com/v1, kind: Gizmo, metadata: {name: x}}"), "--yes"}, 2, []string{`the server has no "Gizmo" in "example.com/v1"`}},
		"offline, without a dry run":              {[]string{"configmap/there", "--from", "x.json"}, 2, []string{"--from works only with --dry-run=client"}},
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

func TestDeleteIgnoreNotFound(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("ignore")
	s.gc("delete", "configmap/gone", "-n", ns, "--ignore-not-found", "--yes").exits(t, 0).shows(t, "Nothing to do.")
}

func TestDeleteReportsMissingPermission(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("forbidden")
	doomed := s.create(configMap(ns, "doomed"))
	s.grant("alice", "", []any{"*"}, []any{"*"}, []any{"list", "get", "watch"})
	alice := s.toolAs("alice")
	const word = `User "alice" cannot delete resource "configmaps"`
	alice.gc("delete", "configmap/doomed", "-n", ns, "--dry-run=server").exits(t, 1).shows(t, "ConfigMap/doomed", word, "The API server would accept 0 of 1 steps")
	alice.gc("delete", "configmap/doomed", "-n", ns, "--yes").exits(t, 1).shows(t, "ConfigMap/doomed", "you may not delete configmaps in namespace "+ns)
	s.requireUnchanged(doomed)
}

func TestDeleteReportsAdmissionError(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("admission")
	doomed := s.create(configMap(ns, "doomed"))
	s.denyWrites(ns, "doomed")
	const word = "this one is under protection"
	s.gc("delete", "configmap/doomed", "-n", ns, "--dry-run=server").exits(t, 1).shows(t, "ConfigMap/doomed", word, "The API server would accept 0 of 1 steps")
	s.gc("delete", "configmap/doomed", "-n", ns, "--yes").exits(t, 1).shows(t, "ConfigMap/doomed", word)
	s.requireUnchanged(doomed)
}

func TestDeleteRefusesDigestOfOtherScanCoverage(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("readable")
	owner := s.create(configMap(ns, "owner"))
	f := s.throughProxy(func(http.Handler) []fault {
		return []fault{{reading(listOf("secrets")), respondStatus(403, "Forbidden", "no")}}
	}).allowWrites()
	complete := s.previewDigest(s.gc("delete", "configmap/owner", "-n", ns, "--dry-run").exits(t, 0).shows(t, "Complete scan."))
	incomplete := s.previewDigest(f.gc("delete", "configmap/owner", "-n", ns, "--dry-run").exits(t, 0).shows(t, "Incomplete scan."))
	f.gc("delete", "configmap/owner", "-n", ns, "--confirm", complete).exits(t, 4).warns(t, "its digest is "+incomplete+", not "+complete)
	s.gc("delete", "configmap/owner", "-n", ns, "--confirm", incomplete).exits(t, 4).warns(t, "its digest is "+complete+", not "+incomplete)
	s.requireUnchanged(owner)
}
