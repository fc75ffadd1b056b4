package auditreport

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// Commands are the command lines that hints name. There is no hint for an empty one.
type Commands struct {
	Repair  string // repairs references
	Preview string // previews a collection
	Explain string // explains one object
}

// Hints returns what to do next, in one line without its line break: repair if a finding
// can be repaired, preview if the garbage collector will act. It returns an empty string
// if there is nothing to do.
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
		applies        bool
	}{
		{"Repair references", c.Repair, repair},
		{"Preview a collection", c.Preview, preview},
		{"Explain one object", c.Explain, len(r.Findings) > 0},
	} {
		if hint.applies && hint.command != "" {
			hints = append(hints, hint.words+": "+hint.command)
		}
	}
	return strings.Join(hints, "    ")
}
