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

// Completed steps do not prove that nothing is left. Only a complete scan after the run does.
func TestRunSucceedsOnlyAfterCompleteScanFindsNothingLeft(t *testing.T) {
	t.Parallel()
	gap := fault{reading(listOf("leases")), respondStatus(500, "InternalError", "etcd is on fire")}
	silent := fault{reading(anyRequest), respondStatus(503, "ServiceUnavailable", "later")}
	root := func(r *http.Request) bool { return r.URL.Path == "/api" || r.URL.Path == "/apis" }
	for command, line := range map[string][]string{
		"collect": {"collect"}, "delete": {"delete", "configmap/orphan", "--client-side"},
	} {
		for name, c := range map[string]struct {
			fault        fault
			strict       bool
			code         int
			verification string
			says, warns  string
		}{
			"with a gap": {
				gap, false, 1, "incomplete",
				"; the scan afterwards was incomplete, so what is left is not known.", "warning: the scan after the run was incomplete, so more may be left than it could find",
			},
			"with a gap, and --strict": {
				gap, true, 3, "incomplete",
				"; the scan afterwards was incomplete, so what is left is not known.", "leases.coordination.k8s.io",
			},
			"that failed": {
				fault{reading(root), silent.answer},
				false, 1, "failed",
				"; the scan afterwards failed, so what is left is not known.", "warning: the scan after the run failed, so what is left is not known: ",
			},
			"that failed, and --strict": {
				fault{reading(root), silent.answer},
				true, 3, "failed",
				"; the scan afterwards failed, so what is left is not known.", "warning: the scan after the run failed",
			},
		} {
			t.Run(command+" and a scan "+name, func(t *testing.T) {
				s := newScene(t)
				for _, machine := range []bool{false, true} {
					ns := s.namespace("verified")
					orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
					args := append(strings.Fields(strings.Join(line, " ")), "-n", ns, "--yes")
					if c.strict {
						args = append(args, "--strict")
					}
					if machine {
						args = append(args, "-o", "json")
					}
					r := s.proxyAfterDelete(c.fault).gc(args...).exits(t, c.code).warns(t, c.warns)
					s.requireGone(orphan)
					if !machine {
						r.shows(t, "deleted 1 in ", c.says).lacks(t, "nothing left")
						continue
					}
					got := verifiedBy(t, r)
					if got.Verification != c.verification || !got.Complete || (c.verification == "incomplete") != (len(got.Gaps) > 0) {
						t.Errorf("the verification is %s, with the gaps %+v", got.Verification, got.Gaps)
					}
				}
			})
		}
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

func TestDeleteClientSideReportsNewDependents(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("meanwhile")
	owner := s.create(configMap(ns, "owner"))
	var dependent object
	f := s.proxyCalling(deleting(single("configmaps", "owner")), func() { dependent = s.create(secret(ns, "new", ownedBy(referenceTo(owner)))) })
	f.gc("delete", "configmap/owner", "-n", ns, "--client-side", "--yes").exits(t, 1).
		shows(t, "deleted 1 in ", "; a scan afterwards found 1 more to do.").warns(t, "More to do, continue with: kubectl gc collect")
	s.requireGone(owner)
	s.requireUnchanged(dependent)
}

func TestDeleteWithoutWaitReportsNoVerification(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unwaited")
	owner := s.create(configMap(ns, "owner"))
	r := s.gc("delete", "configmap/owner", "-n", ns, "--yes", "--wait=false").exits(t, 0).shows(t, "deleted 1 in ", "; nothing was verified.")
	r.lacks(t, "nothing left")
	s.requireGone(owner)
	owner = s.create(configMap(ns, "owner"))
	got := verifiedBy(t, s.gc("delete", "configmap/owner", "-n", ns, "--yes", "--wait=false", "-o", "json").exits(t, 0))
	if got.Verification != "none" {
		t.Errorf("the verification is %s", got.Verification)
	}
	s.requireGone(owner)
}
