package audit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

const version = "example.com/v1"

// baseline returns what ParseBaseline reads of a report.
func baseline(t *testing.T, r *audit.Report) *audit.Baseline {
	t.Helper()
	document, err := json.Marshal(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		*audit.Report
	}{version, "AuditReport", r})
	if err != nil {
		t.Fatal(err)
	}
	b, err := audit.ParseBaseline(document, version)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSubtract(t *testing.T) {
	// The reference to the missing Pod is an error while it is the only one.
	onlyBad, alsoGood := child(gone), child(gone, st.To(pod))
	recreated := child(gone)
	recreated.UID = "another"
	for name, c := range map[string]struct {
		before, after object.Object
		known, left   int
	}{
		"leaves out a finding of the baseline":          {onlyBad, onlyBad, 1, 0},
		"leaves out a finding that became less severe":  {onlyBad, alsoGood, 1, 0},
		"reports a finding that became more severe":     {alsoGood, onlyBad, 0, 1},
		"reports the same finding about a newer object": {onlyBad, recreated, 0, 1},
		"reports another reference of the same object":  {child(foo), onlyBad, 0, 1},
		"reports a finding if the baseline has none":    {pod, onlyBad, 0, 1},
		"counts nothing if nothing is found any more":   {onlyBad, child(st.To(pod)), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			earlier := run(t, st.New(st.Listing(c.before, pod)), audit.Filter{Rules: []string{"missing-owner", "unknown-owner-kind"}})
			report := run(t, st.New(st.Listing(c.after, pod)), audit.Filter{Rules: []string{"missing-owner"}})
			report.Subtract(baseline(t, earlier), "")
			if got := []int{report.Known.Errors + report.Known.Warnings + report.Known.Infos, len(report.Findings)}; !cmp.Equal(got, []int{c.known, c.left}) {
				t.Errorf("known and reported are %v, want %v", got, []int{c.known, c.left})
			}
			if _, any := report.Worst(); any != (c.left > 0) {
				t.Errorf("the summary is %+v", report.Summary)
			}
		})
	}
}

func TestABaselineOfSeveralClustersIsByCluster(t *testing.T) {
	of := func(cluster string) audit.Cluster {
		return audit.Cluster{Name: cluster, Answered: true, Report: run(t, st.New(st.Listing(child(gone))), audit.Filter{})}
	}
	known := baseline(t, audit.Join([]audit.Cluster{of("a")}))
	clusters := []audit.Cluster{of("a"), of("b")}
	for _, c := range clusters {
		c.Subtract(known, c.Name)
	}
	report := audit.Join(clusters)
	if len(report.Findings) != 1 || report.Findings[0].Cluster != "b" || report.Known.Errors != 1 {
		t.Errorf("the findings are %v, known are %+v", report.Findings, report.Known)
	}
}

func TestParseBaselineRefuses(t *testing.T) {
	for name, c := range map[string]struct{ document, want string }{
		"text":                                   {"SEVERITY RULE", "it is not an AuditReport in JSON"},
		"another kind":                           {`{"apiVersion":"example.com/v1","kind":"Plan"}`, `kind "Plan"`},
		"another version":                        {`{"apiVersion":"example.com/v2","kind":"AuditReport","findings":[]}`, `apiVersion "example.com/v2"`},
		"a report without findings":              {`{"apiVersion":"example.com/v1","kind":"AuditReport"}`, "it has no findings"},
		"a report that lacks another baseline's": {`{"apiVersion":"example.com/v1","kind":"AuditReport","findings":[],"known":{}}`, audit.ErrPartialBaseline.Error()},
		"a severity that does not exist":         {`{"apiVersion":"example.com/v1","kind":"AuditReport","findings":[{"severity":"fatal"}]}`, `severity "fatal"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := audit.ParseBaseline([]byte(c.document), version)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
			if name == "a report that lacks another baseline's" && !errors.Is(err, audit.ErrPartialBaseline) {
				t.Errorf("the error is %v, want %v", err, audit.ErrPartialBaseline)
			}
		})
	}
}
