package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKubectlFindsThePlugin(t *testing.T) {
	s := newScene(t)
	s.kubectl("plugin", "list").exits(t, 0).shows(t, filepath.Join(bin, "kubectl-gc"))
	for _, args := range [][]string{{"gc", "--help"}, {"gc", "audit", "--help"}, {"gc", "tree", "-h"}, {"gc", "snapshot", "--help"}} {
		r := s.kubectl(args...).exits(t, 0)
		r.shows(t, "Usage:\n  kubectl "+strings.Join(args[:len(args)-1], " "))
		if strings.Contains(strings.ReplaceAll(r.Stdout, "kubectl-gc.dev", ""), "kubectl-gc ") {
			t.Errorf("kubectl %s calls it kubectl-gc: %s", strings.Join(args, " "), r.Stdout)
		}
	}
}

func TestThroughKubectlGivesSameResult(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("plugin")
	s.createUnreadableOwners(ns)
	s.create(configMap(ns, "kept", ownedBy(referenceTo(s.create(secret(ns, "second"))), reference("v1", "Secret", "gone", "gone"))))
	s.grant("alice", ns, []any{""}, []any{"configmaps"}, []any{"list"})
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"no findings":                  {[]string{"tree", "secret/owner", "-n", ns, "-o", "json"}, 0},
		"findings":                     {[]string{"audit", "-n", ns, "-o", "json"}, 1},
		"only findings of other rules": {[]string{"audit", "--namespace", ns, "--rule", "replaced-owner", "--fail-on=warning"}, 0},
		"an error":                     {[]string{"tree", "nonsense/x", "-n", ns}, 2},
		"another user, by context": {
			[]string{"audit", "-n", ns, "-o", "json", "--strict", "--context", s.controlPlane.Context("alice")}, 3,
		},
		"another user, impersonated": {[]string{"audit", "-n", ns, "-o", "name", "--strict", "--as=alice"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			direct := s.gc(c.args...).exits(t, c.code)
			plugin := s.kubectl(append([]string{"gc"}, c.args...)...).exits(t, c.code)
			if diff := cmp.Diff(direct.Stdout, plugin.Stdout); diff != "" {
				t.Errorf("run directly (-) and by kubectl (+):\n%s", diff)
			}
			if diff := cmp.Diff(direct.Stderr, plugin.Stderr); diff != "" {
				t.Errorf("run directly (-) and by kubectl (+), on stderr:\n%s", diff)
			}
		})
	}
}
