package auditreport

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// Commands are the command lines that hints point to, as the user would type
// them. An empty one is not hinted at.
type Commands struct {
	Repair  string // repairs references
	Preview string // shows what a pass of the collector would do
	Explain string // explains one object
}

// Hints is a line of what to do next, without its line break: to repair
// only where a finding can be repaired, to preview only where the collector will act.
// It is empty when there is nothing to do.
func Hints(r *audit.Report, c Commands) string {
	var repair, preview bool
	for i := range r.Findings {
		f := &r.Findings[i]
		_, repaired := audit.RepairFor(f.Rule)
		repair = repair || repaired && f.Fix != audit.NoFix
		preview = preview || f.Consequence == collector.ConsequenceDelete || f.Consequence == collector.ConsequenceUnlink
	}
	var hints []string
	for _, hint := range []struct {
		words, command string
		apt            bool
	}{
		{"Repair references", c.Repair, repair},
		{"Preview a collection", c.Preview, preview},
		{"Explain one object", c.Explain, len(r.Findings) > 0},
	} {
		if hint.apt && hint.command != "" {
			hints = append(hints, hint.words+": "+hint.command)
		}
	}
	return strings.Join(hints, "    ")
}
