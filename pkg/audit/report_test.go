package audit_test

import (
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everyRule returns a cluster with findings of nearly every rule.
func everyRule() *snapshot.Snapshot {
	web := st.Deployment("shop/web")
	status := st.Object("v1", "ComponentStatus", "scheduler")
	return st.New(
		st.Listing(
			web,
			st.Pod("shop/leaving", st.Foreground()),
			st.Pod("far/exporter"),
			st.Pod("shop/renamed"),
			st.Deployment("shop/recreated", st.UID("successor")),
			st.ConfigMap("shop/missing", st.OwnedBy(st.Pod("shop/gone"))),
			st.ConfigMap("shop/shared", st.OwnedBy(web, st.Pod("shop/gone"))),
			st.ConfigMap("shop/replaced", st.Owned(st.To(st.Deployment("shop/recreated"), st.Controlling, st.Blocking))),
			st.ConfigMap("shop/mismatched", st.Owned(st.To(st.Pod("shop/renamed"), st.Named("old-name")))),
			st.ConfigMap("shop/cross-namespace", st.OwnedBy(st.Pod("far/exporter"))),
			st.Node("cluster-to-namespaced", st.OwnedBy(web)),
			st.ConfigMap("shop/unserved", st.Owned(st.To(web, st.As("apps/v1beta1", "Deployment")))),
			st.ConfigMap("shop/unknown-kind", st.Owned(st.To(st.Pod("shop/any"), st.As("v1", "Foo")))),
			st.ConfigMap("shop/unverified", st.OwnedBy(st.Secret("shop/token"))),
			st.ConfigMap("shop/unverified-beside-missing", st.OwnedBy(st.Secret("shop/token"), st.Pod("shop/gone"))),
			st.ConfigMap("shop/waiting", st.OwnedBy(st.Pod("shop/leaving"))),
			st.Pod("shop/ring-1", st.OwnedBy(st.Pod("shop/ring-2"))),
			st.Pod("shop/ring-2", st.OwnedBy(st.Pod("shop/ring-1"))),
			st.Pod("shop/self", st.OwnedBy(st.Pod("shop/self"))),
			st.ConfigMap("shop/duplicate", st.Owned(st.To(web), st.To(web, st.Named("wrong")))),
			st.ConfigMap("shop/two-controllers", st.Owned(st.To(web, st.Controlling), st.To(st.Pod("shop/self"), st.Controlling))),
			st.ConfigMap("shop/held", st.TerminatingFor(3*time.Hour, "example.com/hold")),
			st.ConfigMap("shop/unmonitored", st.OwnedBy(status)),
			st.Role("shop/role"),
			st.ConfigMap("shop/outdated", st.Owned(st.To(st.Role("shop/role"), st.As(beta, "Role")))),
			st.ConfigMap("shop/odd", st.Owned(st.To(st.Pod("shop/self"), st.As("v1", "pod")))),
			st.Namespace("closing", st.TerminatingFor(3*time.Hour), st.Reporting(object.ContentFailure, `configmaps "kept" is forbidden: not today`)),
			st.ConfigMap("closing/kept"),
		),
		st.Serving(st.TypesWithContents()[0]),
		st.Found(status),
		st.Unreadable("secrets", snapshot.Forbidden),
	)
}

func TestReportJSON(t *testing.T) {
	golden(t, "every-rule.json", run(t, everyRule(), audit.Filter{StuckAfter: terminating.DefaultStuckAfter}))
}

func TestEmptyReportJSON(t *testing.T) {
	got, err := json.Marshal(run(t, &snapshot.Snapshot{}, audit.Filter{}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"complete":true,"gaps":[],"summary":{"objects":0,"references":0,"errors":0,"warnings":0,"infos":0},"findings":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestFindingMessages(t *testing.T) {
	for _, f := range run(t, everyRule(), audit.Filter{StuckAfter: terminating.DefaultStuckAfter}).Findings {
		for name, text := range map[string]string{"message": f.Message(), "brief": f.Reason.Brief(), "effect": f.Effect.Brief()} {
			if text == "" || text != strings.TrimSpace(text) || strings.ContainsAny(text, "\n\t") || strings.HasSuffix(text, ".") {
				t.Errorf("%s of %s: the %s is %q", f.Rule, f.Object, name, text)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	s := st.New(st.Listing(
		st.ConfigMap("a/x", st.OwnedBy(st.Pod("a/gone")), st.Labeled("app", "web")),
		st.ConfigMap("b/x", st.OwnedBy(st.Pod("b/gone"))),
		st.Node("n", st.OwnedBy(st.Node("gone"))),
		st.Pod("a/ring", st.OwnedBy(st.Pod("a/ring2")), st.Labeled("app", "web")),
		st.Pod("a/ring2", st.OwnedBy(st.Pod("a/ring"))),
		st.Pod("a/self", st.OwnedBy(st.Pod("a/self"))),
	))
	web, err := labels.Parse("app=web")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		options audit.Filter
		objects int
		want    []string
	}{
		"everything": {audit.Filter{}, 6, []string{
			"missing-owner ConfigMap/a/x", "missing-owner ConfigMap/b/x", "missing-owner Node/n", "owner-cycle Pod/a/ring", "self-owner Pod/a/self",
		}},
		"one namespace":           {audit.Filter{Namespace: "b"}, 1, []string{"missing-owner ConfigMap/b/x"}},
		"labels":                  {audit.Filter{Selector: web}, 2, []string{"missing-owner ConfigMap/a/x", "owner-cycle Pod/a/ring"}},
		"labels in one namespace": {audit.Filter{Namespace: "b", Selector: web}, 0, nil},
		"some rules":              {audit.Filter{Rules: audit.Cyclic}, 6, []string{"owner-cycle Pod/a/ring", "self-owner Pod/a/self"}},
		"one rule twice":          {audit.Filter{Rules: []string{"self-owner", "self-owner"}}, 6, []string{"self-owner Pod/a/self"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report := run(t, s, test.options)
			var got []string
			for _, f := range report.Findings {
				got = append(got, f.Rule+" "+string(f.Object.UID))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if report.Summary.Objects != test.objects {
				t.Errorf("judged %d objects, want %d", report.Summary.Objects, test.objects)
			}
		})
	}
}

func TestUnknownRule(t *testing.T) {
	_, err := audit.Run(collector.NewJudge(graph.New(st.New())), audit.Filter{Rules: []string{"self-owner", "nonsense"}})
	if err == nil || !strings.Contains(err.Error(), `"nonsense"`) || !strings.Contains(err.Error(), "owner-cycle") {
		t.Errorf("got %v", err)
	}
}

func TestRuleForEveryCause(t *testing.T) {
	for _, cause := range collectortest.Causes {
		if cause != collector.CauseNone && !slices.Contains(audit.IDs(), string(cause)) {
			t.Errorf("no rule reports the cause %q", cause)
		}
	}
}

func TestCycleMembers(t *testing.T) {
	s := st.New(st.Listing(
		st.Pod("b/x", st.OwnedBy(st.Node("n"))), st.Node("n", st.OwnedBy(st.Node("m"))), st.Node("m", st.OwnedBy(st.Node("n"))),
	))
	findings := run(t, s, audit.Filter{}).Findings
	if len(findings) != 1 {
		t.Fatalf("got %d findings", len(findings))
	}
	want := []object.Identity{st.Node("m").Identity, st.Node("n").Identity}
	if diff := cmp.Diff(want, findings[0].Members); diff != "" || findings[0].Object != want[0] || findings[0].Reference != nil {
		t.Errorf("got %+v\n%s", findings[0], diff)
	}
}

func TestWorst(t *testing.T) {
	tests := map[string]struct {
		summary audit.Totals
		want    audit.Severity
		found   bool
	}{
		"nothing":           {audit.Totals{Objects: 1}, "", false},
		"an info":           {audit.Totals{SeverityCounts: audit.SeverityCounts{Infos: 1}}, audit.Info, true},
		"a warning":         {audit.Totals{SeverityCounts: audit.SeverityCounts{Warnings: 1, Infos: 1}}, audit.Warning, true},
		"an error":          {audit.Totals{SeverityCounts: audit.SeverityCounts{Errors: 1, Warnings: 1, Infos: 1}}, audit.Error, true},
		"nothing but error": {audit.Totals{SeverityCounts: audit.SeverityCounts{Errors: 1}}, audit.Error, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := (&audit.Report{Summary: test.summary}).Worst()
			if got != test.want || found != test.found {
				t.Errorf("got %q, %v", got, found)
			}
		})
	}
}

func TestSeverityAtLeast(t *testing.T) {
	order := []audit.Severity{audit.Info, audit.Warning, audit.Error}
	for i, a := range order {
		for k, b := range order {
			if got := a.AtLeast(b); got != (i >= k) {
				t.Errorf("%s at least %s: got %v", a, b, got)
			}
		}
	}
}
