package html

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
)

// findings has an entry for each finding in every list, in the order of
// auditreport.MostSevereFirst.
type findings struct {
	Rule        []int    `json:"rule"`     // in Rules
	Severity    []int    `json:"severity"` // 0 error, 1 warning, 2 info
	Object      []int    `json:"object"`
	Brief       []int    `json:"brief"`  // in Texts, as all below
	Effect      []int    `json:"effect"` // what the collector does
	Consequence []int    `json:"consequence"`
	Fix         []int    `json:"fix"`
	Message     []string `json:"message"`
	Members     [][]int  `json:"members"` // per cycle: the index of the finding, then its objects
}

var severities = []audit.Severity{audit.Error, audit.Warning, audit.Info}

func (b *builder) sortedFindings() []*audit.Finding {
	return auditreport.MostSevereFirst(b.page.Report.Findings)
}

func (b *builder) findings() findings {
	ids := audit.IDs()
	all := findings{
		Rule: []int{}, Severity: []int{}, Object: []int{}, Brief: []int{}, Effect: []int{}, Consequence: []int{}, Fix: []int{},
		Message: []string{}, Members: [][]int{},
	}
	for i, f := range b.sortedFindings() {
		all.Rule = append(all.Rule, slices.Index(ids, f.Rule))
		all.Severity = append(all.Severity, slices.Index(severities, f.Severity))
		all.Object = append(all.Object, int(b.graph.Find(f.Object.UID)))
		all.Brief = append(all.Brief, b.texts.of(f.Reason.Brief(), nameWidth))
		all.Effect = append(all.Effect, b.texts.of(f.Effect.Brief(), nameWidth))
		all.Consequence = append(all.Consequence, b.texts.of(string(f.Consequence), nameWidth))
		all.Fix = append(all.Fix, b.texts.of(string(f.Fix), nameWidth))
		all.Message = append(all.Message, sentence(f.Message()))
		if len(f.Members) > 0 {
			members := []int{i}
			for _, m := range f.Members {
				members = append(members, int(b.graph.Find(m.UID)))
			}
			all.Members = append(all.Members, members)
		}
	}
	return all
}
