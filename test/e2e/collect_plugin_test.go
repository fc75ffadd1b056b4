package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCollectThroughKubectlGivesSameResult(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("plugin-collect")
	s.createGarbage(ns, 2)
	s.create(secret(ns, "shared", ownedBy(referenceTo(s.create(configMap(ns, "owner"))), missingOwner())))
	digest := s.tool().plan("-n", ns).Digest
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"a preview":                  {[]string{"--dry-run"}, 0},
		"a server-side dry run":      {[]string{"--dry-run=server"}, 0},
		"a plan":                     {[]string{"--dry-run=client", "-o", "json"}, 0},
		"without confirmation":       {nil, 4},
		"the digest of another plan": {[]string{"--confirm=0123456789abcdef"}, 4},
		"more than --max-deletes":    {[]string{"--yes", "--max-deletes=1"}, 4},
		"a bad command line":         {[]string{"--dry-run=maybe"}, 2},
		"a user without permissions": {[]string{"--yes", "--as=nobody"}, 2},
		"an impersonated dry run":    {[]string{"--dry-run=server", "--as=admin", "--as-group=system:masters"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			line := append([]string{"collect", "-n", ns}, c.args...)
			direct, plugin := s.gc(line...).exits(t, c.code), s.kubectl(append([]string{"gc"}, line...)...).exits(t, c.code)
			if diff := cmp.Diff(direct.Stdout, plugin.Stdout); diff != "" {
				t.Errorf("run directly (-) and by kubectl (+):\n%s", diff)
			}
			if diff := cmp.Diff(direct.Stderr, plugin.Stderr); diff != "" {
				t.Errorf("run directly (-) and by kubectl (+), on stderr:\n%s", diff)
			}
		})
	}
	r := s.kubectl("gc", "collect", "-n", ns, "--confirm", digest).exits(t, 0).shows(t, "deleted 2, unlinked 1 in ", "a scan afterwards found nothing left")
	if strings.Contains(r.Stdout+r.Stderr, "kubectl-gc ") {
		t.Errorf("it calls itself kubectl-gc: %s%s", r.Stdout, r.Stderr)
	}
	s.kubectl("gc", "collect", "--help").exits(t, 0).shows(t, "Usage:\n  kubectl gc collect")
}
