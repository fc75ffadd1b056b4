package prometheus

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/prometheus"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// now is when all looks of these tests were taken.
var now = time.Unix(1_800_000_000, 0)

// seen is a cluster in which all is well, changed.
func seen(name string, changes ...func(*audit.Cluster)) audit.Cluster {
	c := audit.Cluster{
		Name: name, Answered: true, Server: "v1.36.3", Taken: now, Took: 400 * time.Millisecond,
		Report: &audit.Report{Complete: true, Summary: audit.Summary{Objects: 50_000, References: 60_000}},
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

// finds adds findings of a rule.
func finds(n int, rule string, severity audit.Severity) func(*audit.Cluster) {
	return func(c *audit.Cluster) {
		for range n {
			c.Findings = append(c.Findings, audit.Finding{Rule: rule, Severity: severity})
		}
	}
}

func lacks(reason snapshot.ErrorClass) func(*audit.Cluster) {
	return func(c *audit.Cluster) {
		c.Complete = false
		c.Gaps = append(c.Gaps, audit.Gap{Gap: snapshot.Gap{Resource: "secrets", Reason: reason}})
	}
}

func silent(name string) audit.Cluster {
	return audit.UnansweredCluster(name, snapshot.Unavailable, "refused")
}

func written(t *testing.T, clusters ...audit.Cluster) string {
	t.Helper()
	var out bytes.Buffer
	if err := prometheus.Write(&out, clusters, audit.IDs(), "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
