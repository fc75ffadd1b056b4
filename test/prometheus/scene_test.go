package prometheus

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/prometheus"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// now is the time of all scans in these tests.
var now = time.Unix(1_800_000_000, 0)

// cluster returns the audit of a cluster without findings, with changes.
func cluster(name string, changes ...func(*audit.Cluster)) audit.Cluster {
	c := audit.Cluster{
		Name: name, Answered: true, Server: "v1.36.3", Taken: now, Took: 400 * time.Millisecond,
		Report: &audit.Report{Complete: true, Summary: audit.Totals{Objects: 50_000, References: 60_000}},
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

// findings returns a change that adds findings of a rule.
func findings(n int, rule string, severity audit.Severity) func(*audit.Cluster) {
	return func(c *audit.Cluster) {
		for range n {
			c.Findings = append(c.Findings, audit.Finding{Rule: rule, Severity: severity})
		}
	}
}

func missingType(reason snapshot.ErrorClass) func(*audit.Cluster) {
	return func(c *audit.Cluster) {
		c.Complete = false
		c.Gaps = append(c.Gaps, snapshot.Gap{Resource: "secrets", Reason: reason})
	}
}

func unanswered(name string) audit.Cluster {
	return audit.UnansweredCluster(name, snapshot.Unavailable, "refused")
}

func exposition(t *testing.T, clusters ...audit.Cluster) string {
	t.Helper()
	var out bytes.Buffer
	if err := prometheus.Write(&out, clusters, audit.IDs(), "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// terminating returns a change that adds an object that is being deleted.
func beingDeleted(kind string, age time.Duration, holder terminating.Holder, finalizers ...string) func(*audit.Cluster) {
	return func(c *audit.Cluster) {
		t := terminating.Hold{Object: object.Identity{Kind: kind}, Requested: now.Add(-age), Scanned: now, Holder: holder}
		for _, f := range finalizers {
			t.Finalizers = append(t.Finalizers, terminating.Finalizer{Name: f})
		}
		c.Terminating = append(c.Terminating, t)
	}
}
