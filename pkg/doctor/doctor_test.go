package doctor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/doctor"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

var (
	orphan = st.ConfigMap("shop/orphan", st.Owned(st.To(st.Pod("shop/gone"))))
	leader = reason.Leader{Exists: true, Holder: "master-0", Renewed: time.Unix(0, 0), Renews: true}
	silent = reason.Leader{Exists: true, Holder: "master-0", Renewed: time.Unix(0, 0), Watched: 15*time.Second + time.Millisecond}
)

// observed returns what a healthy cluster shows, except that the pending objects of the scan are
// as given when they are read again. An object that is not given is gone.
func observed(t *testing.T, seen *snapshot.Snapshot, again ...object.Object) *doctor.Observations {
	t.Helper()
	g := graph.New(seen)
	report, err := audit.Run(collector.NewJudge(g), audit.Filter{StuckAfter: terminating.DefaultStuckAfter})
	if err != nil {
		t.Fatal(err)
	}
	reread := map[object.Identity]audit.Reread{}
	for _, o := range report.Pending() {
		reread[o] = audit.Reread{}
	}
	for _, o := range again {
		reread[o.Identity] = audit.Reread{Object: &o}
	}
	report.Settle(reread, 30*time.Second)
	return &doctor.Observations{
		Graph: g, Report: report, StuckAfter: terminating.DefaultStuckAfter,
		ForegroundDeletion: doctor.Observed[bool]{Value: true}, Leader: doctor.Observed[reason.Leader]{Value: leader},
	}
}

func TestDiagnose(t *testing.T) {
	healthy := func(t *testing.T) *doctor.Observations { return observed(t, st.New(st.Listing())) }
	// other lists the checks that are not ok, with their details.
	for name, c := range map[string]struct {
		observe    func(t *testing.T) *doctor.Observations
		state      doctor.Health
		conclusion reason.Code
		other      []string
	}{
		"a cluster without garbage proves nothing": {healthy, doctor.Unverified, "CollectorUnverified", nil},
		"garbage that is gone later proves that the collector works": {
			func(t *testing.T) *doctor.Observations { return observed(t, st.New(st.Listing(orphan))) },
			doctor.Working, "CollectorWorks", nil,
		},
		"garbage that stays shows that it does not": {
			func(t *testing.T) *doctor.Observations { return observed(t, st.New(st.Listing(orphan)), orphan) },
			doctor.NotWorking, "CollectorIdle",
			[]string{"fail garbage: 1 object to collect, not processed for at least 30s, such as ConfigMap/orphan in shop"},
		},
		"garbage that only partly stays shows that it is slow": {
			func(t *testing.T) *doctor.Observations {
				other := st.ConfigMap("shop/other", st.Owned(st.To(st.Pod("shop/gone"))))
				return observed(t, st.New(st.Listing(orphan, other)), other)
			},
			doctor.Hindered, "CollectorHindered",
			[]string{"warn garbage: the garbage collector processed 1 object within 30s, and left 1"},
		},
		"a lease that nobody renews means that nothing runs": {
			func(t *testing.T) *doctor.Observations {
				o := observed(t, st.New(st.Listing(orphan)), orphan)
				o.Leader.Value = silent
				return o
			},
			doctor.NotWorking, "ManagerDown",
			[]string{
				"fail leader: master-0 has not renewed its lease for at least 15s, since 1970-01-01T00:00:00Z",
				"fail garbage: 1 object to collect, not processed for at least 30s, such as ConfigMap/orphan in shop",
			},
		},
		"a lease that nobody holds means that nothing runs": {
			func(t *testing.T) *doctor.Observations {
				o := healthy(t)
				o.Leader.Value = reason.Leader{Exists: true}
				return o
			},
			doctor.NotWorking, "ManagerDown",
			[]string{"fail leader: no kube-controller-manager holds the lease"},
		},
		"without a lease nothing is known of the manager": {
			func(t *testing.T) *doctor.Observations {
				o := healthy(t)
				o.Leader.Value = reason.Leader{}
				return o
			},
			doctor.Unverified, "CollectorUnverified",
			[]string{"unknown leader: there is no lease of kube-controller-manager: it runs without leader election, or not in this cluster"},
		},
		"an API server that ignores the policy does not collect": {
			func(t *testing.T) *doctor.Observations {
				o := healthy(t)
				o.ForegroundDeletion.Value = false
				return o
			},
			doctor.NotWorking, "CollectorDisabled",
			[]string{"fail api-server: the API server ignores foreground deletion (dry run), as with --enable-garbage-collector=false"},
		},
		"what may not be read is unknown": {
			func(t *testing.T) *doctor.Observations {
				o := observed(t, st.New(st.Listing(), st.Unreadable("secrets", snapshot.Forbidden)))
				o.ForegroundDeletion.Unknown, o.Leader.Unknown, o.InOtherNamespaces.Unknown = "forbidden", "forbidden", "forbidden"
				return o
			},
			doctor.Unverified, "CollectorUnverified",
			[]string{
				"unknown resource-lists: 10 of 11 types; could not list secrets (forbidden)", "unknown api-server: not checked: forbidden",
				"unknown leader: not checked: forbidden", "unknown owner-namespaces: not checked: forbidden",
			},
		},
		"an API group that does not answer hinders": {
			func(t *testing.T) *doctor.Observations {
				o := observed(t, st.New(st.Listing(), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)))
				o.Backends = []reason.Backend{{
					Serves: "metrics.k8s.io/v1beta1", Service: "kube-system/metrics-server", State: reason.BackendNoEndpoints,
					Object: object.Identity{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: "v1beta1.metrics.k8s.io"},
				}}
				return o
			},
			doctor.Hindered, "CollectorHindered",
			[]string{"fail api-discovery: metrics.k8s.io/v1beta1: APIService/v1beta1.metrics.k8s.io, service kube-system/metrics-server has no endpoints"},
		},
		"a conversion webhook that does not answer hinders": {
			func(t *testing.T) *doctor.Observations {
				o := observed(t, st.New(st.Listing(), st.Unreadable("widgets", snapshot.Webhook)))
				o.Backends = []reason.Backend{{
					Serves: "widgets.example.com", Service: "shop/converter", State: reason.BackendMissing,
					Object: object.Identity{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "widgets.example.com"},
				}}
				return o
			},
			doctor.Hindered, "CollectorHindered",
			[]string{"fail resource-lists: 10 of 11 types; could not list widgets (conversion-webhook); widgets.example.com: conversion webhook, service shop/converter does not exist"},
		},
		"a canary that is collected proves that the collector works": {
			func(t *testing.T) *doctor.Observations {
				o := healthy(t)
				o.Canary = &doctor.Observed[reason.CanaryTest]{Value: reason.CanaryTest{Collected: true, Took: time.Second}}
				return o
			},
			doctor.Working, "CollectorWorks", nil,
		},
		"a canary that stays shows that it does not": {
			func(t *testing.T) *doctor.Observations {
				o := healthy(t)
				o.Canary = &doctor.Observed[reason.CanaryTest]{Value: reason.CanaryTest{Took: 30 * time.Second}}
				return o
			},
			doctor.NotWorking, "CollectorIdle",
			[]string{"fail canary: a dependent still existed 30s after its owner was deleted"},
		},
		"events about owners elsewhere are a warning": {
			func(t *testing.T) *doctor.Observations {
				o := healthy(t)
				o.InOtherNamespaces.Value = []object.Identity{orphan.Identity}
				return o
			},
			doctor.Unverified, "CollectorUnverified",
			[]string{"warn owner-namespaces: OwnerRefInvalidNamespace Events about 1 object, such as ConfigMap/orphan in shop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := doctor.Diagnose(c.observe(t))
			var other []string
			for _, check := range d.Checks {
				if check.Status != doctor.OK {
					other = append(other, fmt.Sprintf("%s %s: %s", check.Status, check.ID, check.Detail.Message()))
				}
			}
			if diff := cmp.Diff(c.other, other); diff != "" {
				t.Error(diff)
			}
			if got := d.Conclusion.Code; d.State != c.state || got != c.conclusion {
				t.Errorf("it concludes %s, %s, want %s, %s", d.State, got, c.state, c.conclusion)
			}
			if failed := strings.Contains(strings.Join(other, "\n"), "fail "); failed != d.Failed() {
				t.Errorf("a check failed: %t, want %t", d.Failed(), failed)
			}
			if d.Failed() && len(d.Suggestions) == 0 {
				t.Error("it suggests nothing")
			}
		})
	}
}

func TestDiagnoseOfLongDeletions(t *testing.T) {
	for name, c := range map[string]struct {
		object object.Object
		want   string
	}{
		"the collector does not complete one that nothing blocks": {
			st.ConfigMap("shop/old", st.TerminatingFor(time.Hour, object.ForegroundFinalizer)),
			"fail: 1 deletion that only the garbage collector has to complete; ConfigMap/old in shop has been terminating for 60m",
		},
		"one that another controller holds is a warning": {
			st.ConfigMap("shop/old", st.TerminatingFor(time.Hour, "example.com/hold")),
			"warn: 1 long deletion; ConfigMap/old in shop has been terminating for 60m: it is held by example.com/hold",
		},
		"a namespace whose controller fails is a warning": {
			st.Namespace("legacy", st.TerminatingFor(time.Hour), st.Reporting(object.GroupVersionFailure, "a/b/c")),
			"warn: 1 long deletion; Namespace/legacy has been terminating for 60m: it stays while the namespace controller cannot parse the version of an API group",
		},
		"one that has only begun is not": {
			st.ConfigMap("shop/new", st.TerminatingFor(time.Minute, "example.com/hold")), "ok: no deletion is taking long",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := doctor.Diagnose(observed(t, st.New(st.Serving(st.TypesWithContents()...), st.Listing(c.object))))
			for _, check := range d.Checks {
				if got := string(check.Status) + ": " + check.Detail.Message(); check.ID == "deletions" && got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

func TestOnlyAnAggregatedAPIMayBeDeleted(t *testing.T) {
	const describe = "kubectl describe apiservice v1.apps"
	for service, want := range map[string][]string{"": {describe}, "ops/metrics": {describe, "kubectl delete apiservice v1.apps"}} {
		o := observed(t, st.New(st.Listing(), st.Undiscovered("apps", snapshot.Unavailable)))
		o.Backends = []reason.Backend{{Serves: "apps/v1", Service: service, State: reason.BackendExternal, Object: object.Identity{Kind: "APIService", Name: "v1.apps"}}}
		suggested := doctor.Diagnose(o).Suggestions
		for i, command := range want {
			if got := strings.Join(suggested[i].Command, " "); got != command {
				t.Errorf("of an APIService with the service %q it suggests %s, want %s", service, got, command)
			}
		}
		if deletes := func(s reason.Suggestion) bool { return slices.Contains(s.Command, "delete") }; slices.ContainsFunc(suggested, deletes) != (service != "") {
			t.Errorf("of an APIService with the service %q it suggests %v", service, suggested)
		}
	}
}

// A namespace that one finalizer keeps is under two rules, and is one deletion.
func TestALongDeletionIsCountedOnce(t *testing.T) {
	stuck := st.Namespace("old", st.TerminatingFor(time.Hour, "example.com/hold"), st.Reporting())
	held := st.ConfigMap("old/held", st.TerminatingFor(50*time.Minute, "example.com/hold"))
	d := doctor.Diagnose(observed(t, st.New(st.Serving(st.TypesWithContents()...), st.Listing(stuck, held))))
	i := slices.IndexFunc(d.Checks, func(c doctor.Check) bool { return c.ID == "deletions" })
	got := d.Checks[i].Detail.Message()
	if want := "2 long deletions; Namespace/old has been terminating for 60m: it is held by example.com/hold"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whoever may read one namespace alone reads no type of the cluster, and is not told otherwise.
func TestListsOfOneNamespaceThatFailAreNotOK(t *testing.T) {
	seen := st.New(st.Listing(orphan), func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps,
			snapshot.Gap{Resource: "secrets", Namespace: "shop", Reason: snapshot.Forbidden},
			snapshot.Gap{Resource: "nodes", Namespace: snapshot.All, Reason: snapshot.Forbidden})
	})
	d := doctor.Diagnose(observed(t, seen, orphan))
	i := slices.IndexFunc(d.Checks, func(c doctor.Check) bool { return c.ID == "resource-lists" })
	if c := d.Checks[i]; c.Status != doctor.Unknown || !strings.HasSuffix(c.Detail.Message(), "could not list secrets in namespace shop (forbidden)") {
		t.Errorf("%s: %s", c.Status, c.Detail.Message())
	}
}

// TestKyverno2750DoctorNamesWhatAdmissionRefuses: deletions are refused as long as nothing answers for a webhook. What
// answers may answer a controller differently.
func TestKyverno2750DoctorNamesWhatAdmissionRefuses(t *testing.T) {
	backend := reason.WebhookRefuses{Configuration: object.Identity{Kind: "ValidatingWebhookConfiguration", Name: "policy"}, Service: "ops/policy", State: reason.BackendMissing, Operation: "DELETE"}
	denied := reason.WebhookRefuses{Configuration: object.Identity{Kind: "ValidatingAdmissionPolicy", Name: "keep"}, Binding: "all", Said: "never", Decided: true, Operation: "DELETE", First: st.Pod("shop/web").Identity}
	removal := denied
	removal.Operation, removal.Finalizer = "UPDATE", "x/a"
	const missing = "ValidatingWebhookConfiguration/policy refuses deletions: its Service ops/policy does not exist"
	const decided = "ValidatingAdmissionPolicy/keep (binding all) refuses the deletion of Pod/web (asked as you; it may allow controllers): never"
	for name, c := range map[string]struct {
		admission reason.Admission
		want      string
		failed    bool
	}{
		"a webhook without a backend": {reason.Admission{Refused: []reason.WebhookRefuses{backend}}, "fail " + missing, true},
		"a policy that answers":       {reason.Admission{Refused: []reason.WebhookRefuses{denied}, Accepted: 1}, "warn " + decided, false},
		"a policy that refuses two":   {reason.Admission{Refused: []reason.WebhookRefuses{denied, removal}}, "warn " + decided, false},
		"both":                        {reason.Admission{Refused: []reason.WebhookRefuses{backend, denied}, Unknown: "forbidden"}, "fail " + missing + "; " + decided, true},
		"none":                        {reason.Admission{}, "ok none refuses deletions or updates because its Service is down", false},
		"none of what was tried":      {reason.Admission{Accepted: 2}, "ok the API server accepted 2 dry runs of deletions and updates", false},
		"none that may be read":       {reason.Admission{Accepted: 2, Unknown: "forbidden"}, "unknown not checked: forbidden", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(t, st.New())
			o.Admission = c.admission
			d := doctor.Diagnose(o)
			i := slices.IndexFunc(d.Checks, func(c doctor.Check) bool { return c.ID == "webhooks" })
			if got := fmt.Sprintf("%s %s", d.Checks[i].Status, d.Checks[i].Detail.Message()); got != c.want || d.Failed() != c.failed {
				t.Errorf("got %q, failed: %v", got, d.Failed())
			}
			remedy := slices.ContainsFunc(d.Suggestions, func(s reason.Suggestion) bool {
				return s.Sentence == "restore Service ops/policy, or delete the ValidatingWebhookConfiguration if nothing needs it" && strings.Join(s.Command, " ") == "kubectl delete validatingwebhookconfiguration policy"
			})
			if remedy != c.failed {
				t.Errorf("suggestions are %v", d.Suggestions)
			}
			if warned := strings.Contains(d.Conclusion.Message(), "see the warnings"); warned != (d.Checks[i].Status == doctor.Warn) {
				t.Errorf("concludes: %s", d.Conclusion.Message())
			}
		})
	}
}
