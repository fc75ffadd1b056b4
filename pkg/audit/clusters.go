package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// Cluster is one cluster and what was found in it.
type Cluster struct {
	Name        string             // of its context; empty for the only cluster
	Answered    bool               // whether it was scanned; if not, only Report is set
	Server      string             // its version; empty if unknown
	Types       int                // number of types that the garbage collector watches
	Taken       time.Time          // end of the scan; zero if unknown
	Took        time.Duration      // duration of the scan; zero if unknown, as for a file
	Terminating []terminating.Hold // nil if they were not asked for
	*Report
}

// UnansweredCluster returns a cluster that could not be scanned, with a gap for all of it.
func UnansweredCluster(name string, reason snapshot.ErrorClass, message string) Cluster {
	gap := snapshot.Gap{Group: snapshot.All, Resource: snapshot.All, Reason: reason, Message: message}
	return Cluster{Name: name, Report: &Report{Gaps: []snapshot.Gap{gap}, Findings: []Finding{}}}
}

// Counts is the summary of one of several clusters.
type Counts struct {
	Name     string `json:"name"`
	Answered bool   `json:"answered"`
	Complete bool   `json:"complete"`
	Server   string `json:"server"`
	Summary  Totals `json:"summary"`
}

// Join returns one report about several clusters, sorted by their names. It is complete if
// all of theirs are. The report of a single cluster without a name is returned as it is.
func Join(clusters []Cluster) *Report {
	if len(clusters) == 1 && clusters[0].Name == "" {
		return clusters[0].Report
	}
	clusters = slices.Clone(clusters)
	slices.SortStableFunc(clusters, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	all := &Report{Complete: true, Gaps: []snapshot.Gap{}, Findings: []Finding{}}
	for _, c := range clusters {
		all.Clusters = append(all.Clusters, Counts{c.Name, c.Answered, c.Complete, c.Server, c.Summary})
		all.Complete = all.Complete && c.Complete
		all.Summary.add(c.Summary)
		if c.Settled != nil {
			all.Settled = cmp.Or(all.Settled, &Settlement{})
			all.Settled.add(c.Settled)
		}
		if c.Known != nil {
			all.Known = cmp.Or(all.Known, &SeverityCounts{})
			all.Known.add(c.Known)
		}
		for _, g := range c.Gaps {
			g.Cluster = c.Name
			all.Gaps = append(all.Gaps, g)
		}
		for _, f := range c.Findings {
			f.Cluster = c.Name
			all.Findings = append(all.Findings, f)
		}
	}
	return all
}

func (s *Totals) add(o Totals) {
	s.Objects += o.Objects
	s.References += o.References
	s.SeverityCounts.add(&o.SeverityCounts)
}
