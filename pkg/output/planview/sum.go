package planview

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// SummaryLine says in one line, without its line break, how much a plan does, what stays
// blocked and whether the scan was complete.
func SummaryLine(p *plan.Plan) string {
	if p.Mode == plan.Delete {
		return sumOfFates(p)
	}
	sum := tally(p, word, func(*plan.Step) bool { return true })
	if sum == "" {
		sum = "Nothing to do"
	}
	if n := p.Losses() - p.Summary.Delete; n > 0 {
		sum += "; " + wording.Count(n, "more object") + " along with them"
	}
	switch n := len(p.Blocked); n {
	case 0:
	case 1:
		sum += "; 1 remains blocked"
	default:
		sum += "; " + wording.Thousands(n) + " remain blocked"
	}
	switch n := len(p.Kept); n {
	case 0:
	case 1:
		sum += "; 1 is left alone"
	default:
		sum += "; " + wording.Thousands(n) + " are left alone"
	}
	return sum + ". " + wording.Scan(p.Complete)
}

// tally counts steps by their acts, as in "delete 3, unlink 1". It is empty
// where none counts.
func tally(p *plan.Plan, word func(collector.Action) string, counts func(*plan.Step) bool) string {
	found := map[collector.Action]int{}
	for i := range p.Steps {
		if counts(&p.Steps[i]) {
			found[p.Steps[i].Action]++
		}
	}
	var out []string
	for _, act := range slices.SortedFunc(maps.Keys(found), func(a, b collector.Action) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), cmp.Compare(a, b))
	}) {
		out = append(out, word(act)+" "+wording.Thousands(found[act]))
	}
	return strings.Join(out, ", ")
}
