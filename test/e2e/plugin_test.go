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
	for _, args := range [][]string{{"gc", "--help"}, {"gc", "tree", "-h"}} {
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
	orphans := s.createGarbage(ns, 2)
	s.grant("alice", ns, []any{""}, []any{"configmaps"}, []any{"list"})
	digest := s.tool().plan("-n", ns).Digest
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"findings":                   {[]string{"audit", "-n", ns, "-o", "json"}, 1},
		"an error":                   {[]string{"tree", "nonsense/x", "-n", ns}, 2},
		"another user, by context":   {[]string{"audit", "-n", ns, "-o", "json", "--strict", "--context", s.controlPlane.Context("alice")}, 3},
		"another user, impersonated": {[]string{"audit", "-n", ns, "-o", "name", "--strict", "--as=alice"}, 3},
		"a server-side dry run":      {[]string{"collect", "-n", ns, "--dry-run=server", "--as=admin", "--as-group=system:masters"}, 0},
		"without confirmation":       {[]string{"collect", "-n", ns}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			direct := s.gc(c.args...).exits(t, c.code)
			plugin := s.kubectl(append([]string{"gc"}, c.args...)...).exits(t, c.code)
			if diff := cmp.Diff([]string{direct.Stdout, direct.Stderr}, []string{plugin.Stdout, plugin.Stderr}); diff != "" {
				t.Errorf("run directly (-) and by kubectl (+):\n%s", diff)
			}
		})
	}
	s.requireUnchanged(orphans...)
	s.kubectl("gc", "collect", "-n", ns, "--confirm", digest).exits(t, 0).shows(t, "deleted 2 in ")
	s.requireGone(orphans...)
}
