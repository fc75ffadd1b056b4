package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Cluster is one cluster, and what was found in it.
type Cluster struct {
	Name     string        // of the context that leads there; empty where it was not one of several
	Answered bool          // whether there was a look; if not, all below is empty, but for the gap of a report
	Server   string        // its version, empty when unknown
	Types    int           // how many the collector watches there
	Taken    time.Time     // when the look ended; zero when unknown
	Took     time.Duration // how long it took; zero when unknown, as of a file
	*Report
}

// IdleCollector is a cluster that gave no answer, as a gap for all there may be in it.
func IdleCollector(name string, reason snapshot.ErrorClass, message string) Cluster {
	gap := snapshot.Gap{Group: snapshot.All, Resource: snapshot.All, Reason: reason, Message: message}
	return Cluster{Name: name, Report: &Report{Gaps: gapsOf([]snapshot.Gap{gap}, ""), Findings: []Finding{}}}
}

// Gap is what could not be read, and where.
type Gap struct {
	Cluster string `json:"cluster,omitempty"` // where the report is joined from several
	snapshot.Gap
}

// String names the gap as kubectl names types, and its cluster.
func (g Gap) String() string {
	switch {
	case g.Cluster == "":
		return g.Gap.String()
	case g.Group == snapshot.All:
		return "cluster " + g.Cluster
	}
	return g.Gap.String() + " in cluster " + g.Cluster
}

func gapsOf(gaps []snapshot.Gap, cluster string) []Gap {
	out := make([]Gap, len(gaps))
	for i, g := range gaps {
		out[i] = Gap{cluster, g}
	}
	return out
}

// Counts is what one of several clusters adds to a report.
type Counts struct {
	Name     string  `json:"name"`
	Answered bool    `json:"answered"`
	Complete bool    `json:"complete"`
	Server   string  `json:"server"`
	Summary  Summary `json:"summary"`
}

// Join makes one report of those of several clusters, in the order of their names. That
// of a cluster without a name, which is not one of several, stays what it is. It is
// complete where all are.
func Join(clusters []Cluster) *Report {
	if len(clusters) == 1 && clusters[0].Name == "" {
		return clusters[0].Report
	}
	clusters = slices.SortedStableFunc(slices.Values(clusters), func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
	all := &Report{Complete: true, Gaps: []Gap{}, Findings: []Finding{}}
	for _, c := range clusters {
		all.Clusters = append(all.Clusters, Counts{c.Name, c.Answered, c.Complete, c.Server, c.Summary})
		all.Complete = all.Complete && c.Complete
		all.Summary.add(c.Summary)
		for _, g := range c.Gaps {
			all.Gaps = append(all.Gaps, Gap{c.Name, g.Gap})
		}
		for _, f := range c.Findings {
			f.Cluster = c.Name
			all.Findings = append(all.Findings, f)
		}
	}
	return all
}

func (s *Summary) add(o Summary) {
	s.Objects += o.Objects
	s.References += o.References
	s.Errors += o.Errors
	s.Warnings += o.Warnings
	s.Infos += o.Infos
}
