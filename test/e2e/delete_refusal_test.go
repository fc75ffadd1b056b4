package e2e

import (
	"strings"
	"testing"
)

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
		"without confirmation":                    {[]string{"configmap/there", "-n", ns}, 4, []string{"error: not confirmed: standard input is not a terminal", "hint: use --yes, or --confirm "}},
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
