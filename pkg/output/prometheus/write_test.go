package prometheus_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/prometheus"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func written(t *testing.T, clusters []audit.Cluster, rules ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := prometheus.Write(&out, clusters, rules, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// of returns the series of a metric, without its name.
func of(text, metric string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "kubectl_gc_"+metric); ok && strings.IndexAny(rest, "{ ") == 0 {
			out = append(out, strings.TrimSpace(rest))
		}
	}
	return out
}

func answered(name string) audit.Cluster {
	return audit.Cluster{
		Name: name, Answered: true, Server: "v1.36.3", Taken: time.Unix(1_800_000_000, 0), Took: 418_400 * time.Microsecond,
		Report: &audit.Report{
			Complete: true, Summary: audit.Totals{Objects: 50_132, References: 60_418, SeverityCounts: audit.SeverityCounts{Errors: 2}},
			Findings: []audit.Finding{{Rule: "missing-owner", Severity: audit.Error}, {Rule: "missing-owner", Severity: audit.Error}},
		},
	}
}

func TestEveryRuleHasSeries(t *testing.T) {
	text := written(t, []audit.Cluster{answered("")}, "missing-owner", "replaced-owner")
	want := []string{
		`{rule="missing-owner",severity="error"} 2`, `{rule="missing-owner",severity="warning"} 0`, `{rule="missing-owner",severity="info"} 0`,
		`{rule="replaced-owner",severity="error"} 0`, `{rule="replaced-owner",severity="warning"} 0`, `{rule="replaced-owner",severity="info"} 0`,
	}
	if diff := cmp.Diff(want, of(text, "audit_findings")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNumbersOfTheScan(t *testing.T) {
	text := written(t, []audit.Cluster{answered("")})
	for metric, want := range map[string]string{
		"audit_objects": "50132", "audit_references": "60418", "audit_complete": "1", "audit_answered": "1",
		"audit_timestamp_seconds": "1800000000", "audit_duration_seconds": "0.418",
		"audit_server_info": `{version="v1.36.3"} 1`, "build_info": `{version="v1.2.3"} 1`,
	} {
		if diff := cmp.Diff([]string{want}, of(text, metric)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", metric, diff)
		}
	}
}

func TestUnknownValuesHaveNoSeries(t *testing.T) {
	c := answered("")
	c.Server, c.Taken, c.Took = "", time.Time{}, 0
	text := written(t, []audit.Cluster{c})
	for _, metric := range []string{"audit_timestamp_seconds", "audit_duration_seconds", "audit_server_info"} {
		if strings.Contains(text, metric) {
			t.Errorf("%s is there: %s", metric, text)
		}
	}
}

func TestClusterWithoutAnswerHasNoCounts(t *testing.T) {
	text := written(t, []audit.Cluster{answered("prod"), audit.UnansweredCluster("staging", snapshot.TimedOut, "no answer")}, "missing-owner")
	for _, metric := range []string{"audit_findings", "audit_objects", "audit_references", "audit_timestamp_seconds", "audit_duration_seconds"} {
		if all := strings.Join(of(text, metric), "\n"); strings.Contains(all, "staging") || !strings.Contains(all, `cluster="prod"`) {
			t.Errorf("%s: %s", metric, all)
		}
	}
	for metric, want := range map[string][]string{
		"audit_complete": {`{cluster="prod"} 1`, `{cluster="staging"} 0`},
		"audit_answered": {`{cluster="prod"} 1`, `{cluster="staging"} 0`},
	} {
		if diff := cmp.Diff(want, of(text, metric)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", metric, diff)
		}
	}
	if !strings.Contains(text, `audit_gaps{cluster="staging",reason="timeout"} 1`) {
		t.Errorf("the gap is not counted: %s", text)
	}
}

func TestGapsAreCountedByReason(t *testing.T) {
	c := answered("")
	c.Complete = false
	for _, reason := range []snapshot.ErrorClass{snapshot.Forbidden, snapshot.Forbidden, "of-tomorrow"} {
		c.Gaps = append(c.Gaps, snapshot.Gap{Reason: reason})
	}
	got := of(written(t, []audit.Cluster{c}), "audit_gaps")
	if len(got) != len(snapshot.GapErrorClasses)+1 {
		t.Errorf("not every reason has a series: %q", got)
	}
	for _, want := range []string{`{reason="forbidden"} 2`, `{reason="timeout"} 0`, `{reason="other"} 1`} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
}

func TestLabelsAreEscaped(t *testing.T) {
	text := written(t, []audit.Cluster{answered("a\"b\\c\nd\x1b]0;x\u202e")})
	if want := `{cluster="a\"b\\c\\nd\\x1b]0;x\\u202e"} 1`; of(text, "audit_answered")[0] != want {
		t.Errorf("got %s, want %s", of(text, "audit_answered")[0], want)
	}
}

// FuzzLabels checks that every line is a comment or one sample.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{"", "prod", "a\"} 1\nb{", "\\", "\\\"", "\n", "\r", "\xff", "\u2028", "arn:aws:eks:eu-west-1:1:cluster/prod"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		c := answered("x" + name)
		c.Server = name
		lines := strings.Split(strings.TrimSuffix(written(t, []audit.Cluster{c}, "missing-owner"), "\n"), "\n")
		plain := strings.Split(strings.TrimSuffix(written(t, []audit.Cluster{answered("x")}, "missing-owner"), "\n"), "\n")
		if more := len(plain) - len(lines); more != 0 && (name != "" || more != 3) { // no version, no metric of it
			t.Fatalf("%d lines instead of %d", len(lines), len(plain))
		}
		for _, line := range lines {
			if strings.HasPrefix(line, "# ") {
				continue
			}
			var value float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &value); err != nil || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
				t.Errorf("no sample: %q", line)
			}
		}
	})
}
