package explain_test

import (
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestWhatARunOfThisToolDeletedHasATraceAndAnUndo(t *testing.T) {
	gone := st.ConfigMap("ns/doomed").Identity
	gone.UID = ""
	a := explain.NewExplainer(collector.NewJudge(graph.New(st.New(st.Listing())))).Gone(gone, explain.EventHistory{}, &reason.DeletedByRun{
		Command: "delete", Time: time.Date(2026, 11, 20, 8, 31, 7, 0, time.UTC), Backup: "/backup",
	})
	if want := "ConfigMap/doomed in namespace ns is gone: kubectl gc delete deleted it at 2026-11-20 08:31:07 UTC."; a.Headline != want {
		t.Errorf("it says %q, want %q", a.Headline, want)
	}
	if c := a.Suggestions[0].Command; !a.HasTraces() || c[len(c)-2] != "restore" || c[len(c)-1] != "/backup" {
		t.Errorf("it has traces: %t, and suggests %q", a.HasTraces(), c)
	}
}
