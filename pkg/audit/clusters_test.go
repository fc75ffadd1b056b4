package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func clusterOf(name string, rules ...string) audit.Cluster {
	r := &audit.Report{Complete: true, Gaps: []snapshot.Gap{}, Findings: []audit.Finding{}}
	r.Summary = audit.Totals{Objects: 10, References: 5, SeverityCounts: audit.SeverityCounts{Errors: len(rules)}}
	for _, rule := range rules {
		r.Findings = append(r.Findings, audit.Finding{Rule: rule, Severity: audit.Error})
	}
	return audit.Cluster{Name: name, Answered: true, Server: "v1.36.3", Report: r}
}

func TestJoinKeepsReportOfSingleCluster(t *testing.T) {
	c := clusterOf("", "missing-owner")
	if audit.Join([]audit.Cluster{c}) != c.Report {
		t.Error("it became another")
	}
	text, err := json.Marshal(c.Report)
	if err != nil || strings.Contains(string(text), "cluster") {
		t.Errorf("it speaks of clusters: %s, %v", text, err)
	}
}

func TestJoin(t *testing.T) {
	prod, staging := clusterOf("prod", "owner-cycle", "missing-owner"), clusterOf("staging", "self-owner")
	staging.Complete = false
	staging.Gaps = append(staging.Gaps, snapshot.Gap{Resource: "secrets", Reason: snapshot.Forbidden})
	silent := audit.UnansweredCluster("edge", snapshot.Unavailable, "connection refused")

	got := audit.Join([]audit.Cluster{staging, prod, silent})
	want := &audit.Report{
		Summary: audit.Totals{Objects: 20, References: 10, SeverityCounts: audit.SeverityCounts{Errors: 3}},
		Gaps: []snapshot.Gap{
			{Cluster: "edge", Group: "*", Resource: "*", Reason: snapshot.Unavailable, Message: "connection refused"},
			{Cluster: "staging", Resource: "secrets", Reason: snapshot.Forbidden},
		},
		Clusters: []audit.Counts{
			{Name: "edge"},
			{Name: "prod", Answered: true, Complete: true, Server: "v1.36.3", Summary: prod.Summary},
			{Name: "staging", Answered: true, Server: "v1.36.3", Summary: staging.Summary},
		},
		Findings: []audit.Finding{
			{Cluster: "prod", Rule: "owner-cycle", Severity: audit.Error},
			{Cluster: "prod", Rule: "missing-owner", Severity: audit.Error},
			{Cluster: "staging", Rule: "self-owner", Severity: audit.Error},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if prod.Findings[0].Cluster != "" || staging.Gaps[0].Cluster != "" {
		t.Error("the reports that were joined have changed")
	}
	if diff := cmp.Diff([]string{"cluster edge", "secrets in cluster staging"}, []string{got.Gaps[0].String(), got.Gaps[1].String()}); diff != "" {
		t.Errorf("gaps (-want +got)\n%s", diff)
	}
}

func TestJoinIsCompleteIfAllReportsAre(t *testing.T) {
	if r := audit.Join([]audit.Cluster{clusterOf("a"), clusterOf("b")}); !r.Complete || r.Findings == nil || r.Gaps == nil {
		t.Errorf("two whole views of nothing wrong: %+v", r)
	}
	if audit.Join([]audit.Cluster{clusterOf("a"), audit.UnansweredCluster("b", snapshot.Forbidden, "no")}).Complete {
		t.Error("one that did not answer makes no whole view")
	}
}
