package repair

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// choices returns what is said of an object by rule, of those that leave a choice to a person.
func choices() map[string]string {
	out := map[string]string{}
	for _, r := range audit.Rules {
		if r.Choice != "" {
			out[r.ID] = r.Choice
		}
	}
	return out
}

// choiceNotes returns what the selected objects need besides the plan, because a person has to choose.
func (c *repairCommand) choiceNotes(seen cli.Scanned, p *plan.Plan) ([]string, error) {
	if len(c.rules)+len(c.references) > 0 {
		return nil, nil // these select something else
	}
	choices := choices()
	rules := slices.Sorted(maps.Keys(choices))
	found, err := audit.Run(seen.Judge, audit.Filter{Rules: rules})
	if err != nil {
		return nil, err
	}
	g := seen.Graph()
	targets := graph.NewSet(g)
	_ = c.selection.Find(g, targets) // validateIn has reported what is missing
	var notes []string
	for _, f := range audit.MostSevereFirst(found.Findings) {
		of := append([]object.Identity{f.Object}, f.Members...)
		at := slices.IndexFunc(of, func(o object.Identity) bool {
			n := g.Find(o.UID)
			return c.selects(g.Object(n), n, targets)
		})
		repaired := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Object.UID == f.Object.UID })
		if at >= 0 && !repaired && f.Severity.AtLeast(audit.Warning) {
			notes = append(notes, fmt.Sprintf("1 %s needs your choice: %s %s: %s",
				f.Severity, escape.Line(of[at].String()), choices[f.Rule], c.options.Scan.ExplainCommand(of[at], "")))
		}
	}
	if more := len(notes) - 1; more > 0 {
		all := c.options.Scan.Suggest("audit", "--rule", strings.Join(rules, ","))
		notes = []string{notes[0], fmt.Sprintf("%d more need it: %s", more, all)}
	}
	return notes, nil
}
