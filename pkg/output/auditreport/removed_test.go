package auditreport_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestWatchedTables(t *testing.T) {
	first, second := st.ConfigMap("ns/first", st.OwnedBy(st.Pod("ns/gone"))), st.ConfigMap("ns/sec\x1bond", st.OwnedBy(st.Pod("ns/gone")))
	var tracker audit.Tracker
	var report *audit.Report
	follow := func(after time.Duration, s *snapshot.Snapshot) []audit.FindingChange {
		s.Taken = st.Taken.Add(after)
		g := graph.New(s)
		var err error
		if report, err = audit.Run(collector.NewJudge(g), audit.Options{}); err != nil {
			t.Fatal(err)
		}
		return tracker.Update(report, g)
	}
	follow(0, st.New(st.Listing(first)))
	follow(time.Minute, st.New(st.Listing(first, second)))
	var out bytes.Buffer
	if err := auditreport.Table(&out, report, &tracker, false, color.New(color.Never, false, false)); err != nil {
		t.Fatal(err)
	}
	removed := follow(2*time.Minute, st.New(st.Listing(first)))
	if err := auditreport.RemovedTable(&out, removed, 7, st.Taken); err != nil {
		t.Fatal(err)
	}
	want := `SINCE      SEVERITY  RULE           NAMESPACE  OBJECT              PROBLEM                  RESULT
-          error     missing-owner  ns         ConfigMap/first     Pod/gone does not exist  will be deleted
08:01:00Z  error     missing-owner  ns         ConfigMap/sec\x1bond  Pod/gone does not exist  will be deleted
7 findings gone since 08:00:00Z, the latest first:
GONE AT    RULE           NAMESPACE  OBJECT              OUTCOME
08:02:00Z  missing-owner  ns         ConfigMap/sec\x1bond  object deleted
`
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if diff := cmp.Diff(squeeze(want), squeeze(out.String())); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, out.String())
	}
}
