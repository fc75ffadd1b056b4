package findings

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// Commands are the command lines that hints point to, as the user would type
// them. An empty one is not hinted at.
type Commands struct {
	Mend    string // repairs references
	Foresee string // shows what a pass of the collector would do
	Explain string // tells of one object
}

// Hints is a line of what to do next, without its line break: to mend only
// where a finding can be mended, to foresee only where the collector will act.
// It is empty when there is nothing to do.
func Hints(r *audit.Report, c Commands) string {
	var mend, foresee bool
	for i := range r.Findings {
		f := &r.Findings[i]
		_, mended := audit.MendedBy(f.Rule)
		mend = mend || mended && f.Fix != audit.NoFix
		foresee = foresee || f.Consequence == collector.Delete || f.Consequence == collector.Unlink
	}
	var hints []string
	for _, hint := range []struct {
		words, command string
		apt            bool
	}{
		{"Mend them", c.Mend, mend},
		{"Foresee a pass", c.Foresee, foresee},
		{"One object", c.Explain, len(r.Findings) > 0},
	} {
		if hint.apt && hint.command != "" {
			hints = append(hints, hint.words+": "+hint.command)
		}
	}
	return strings.Join(hints, "    ")
}
