package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// proxyAfterDelete returns a proxy that applies the fault only from the first DELETE on.
func (s *scene) proxyAfterDelete(f fault) *recordingProxy {
	s.Helper()
	var begun atomic.Bool
	return s.throughProxy(func(http.Handler) []fault {
		return []fault{{func(r *http.Request) bool {
			if r.Method == http.MethodDelete {
				begun.Store(true)
			}
			return begun.Load() && f.matches(r)
		}, f.answer}}
	}).allowWrites()
}

// verified is what the result of any command says about the scan after the run.
type verified struct {
	Complete     bool   `json:"complete"`
	Verification string `json:"verification"`
	Gaps         []gap  `json:"gaps"`
}

func verifiedBy(t testing.TB, r result) (out verified) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("%v: %s", err, short(r.Stdout))
	}
	return out
}

// Completed steps do not prove that nothing is left. Only a complete scan after the run does. That every command
// keeps to that is tested in pkg/cli and test/trust.
func TestRunSucceedsOnlyAfterCompleteScanFindsNothingLeft(t *testing.T) {
	s := newScene(t)
	gap := fault{reading(listOf("leases")), respondStatus(500, "InternalError", "etcd is on fire")}
	root := func(r *http.Request) bool { return r.URL.Path == "/api" || r.URL.Path == "/apis" }
	failed := fault{reading(root), respondStatus(503, "ServiceUnavailable", "later")}
	for name, c := range map[string]struct {
		args         string
		fault        fault
		code         int
		verification string
		warns        string
	}{
		"a scan with a gap":                {"collect", gap, 1, "incomplete", "warning: the scan after the run was incomplete, so more may be left than it could find"},
		"a scan with a gap, and --strict":  {"collect --strict", gap, 3, "incomplete", "leases.coordination.k8s.io"},
		"a scan that failed":               {"delete configmap/orphan --client-side", failed, 1, "failed", "warning: the scan after the run failed, so what is left is not known: "},
		"a scan that failed, and --strict": {"delete configmap/orphan --client-side --strict", failed, 3, "failed", "warning: the scan after the run failed"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := s.namespace("verified")
			orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
			r := s.proxyAfterDelete(c.fault).gc(append(strings.Fields(c.args), "-n", ns, "--yes", "-o", "json")...).exits(t, c.code).warns(t, c.warns)
			s.requireGone(orphan)
			got := verifiedBy(t, r)
			if got.Verification != c.verification || !got.Complete || (c.verification == "incomplete") != (len(got.Gaps) > 0) {
				t.Errorf("the verification is %s, with the gaps %+v", got.Verification, got.Gaps)
			}
		})
	}
}

// Objects that become garbage during a run are reported as left, except by the run of a saved
// plan, which is not about them.
func TestGarbageLeftAfterRunFailsIt(t *testing.T) {
	t.Parallel()
	for name, saved := range map[string]bool{"a pass": false, "a saved plan": true} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("meanwhile")
			orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
			args, code, says := []string{"collect", "-n", ns, "--yes"}, 1, "a scan afterwards found 1 more to do."
			if saved {
				args, code, says = append(args, "--plan", s.savedPlan(ns)), 0, "a scan afterwards found 1 more to do (none of it part of this plan)."
			}
			var more object
			f := s.proxyCalling(deleting(single("configmaps", "orphan")), func() { more = s.create(configMap(ns, "more", ownedBy(missingOwner()))) })
			f.gc(args...).exits(t, code).shows(t, "deleted 1 in ", says)
			s.requireGone(orphan)
			s.requireUnchanged(more)
		})
	}
}
