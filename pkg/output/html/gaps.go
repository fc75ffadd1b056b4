package html

import (
	table "github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
)

// gaps are what could not be read.
type gaps struct {
	Warning string   `json:"warning"` // in one line; empty where there are none
	Causes  []string `json:"causes"`
	All     []gap    `json:"all"`
}

type gap struct {
	What    string `json:"what"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// How many gaps the first line names, and how many have a line of their own below.
const (
	namedGaps = 6
	mostGaps  = 2000
)

func (b *builder) gaps() gaps {
	s := b.Graph.Snapshot()
	out := gaps{Warning: table.Gaps("", s.Gaps, s.Monitored(), namedGaps), Causes: append([]string{}, table.Causes(s.Gaps, namedGaps)...), All: []gap{}}
	for i, g := range s.Gaps {
		if i == mostGaps {
			break
		}
		out.All = append(out.All, gap{name(g.String()), name(string(g.Reason)), sentence(g.Message)})
	}
	return out
}
