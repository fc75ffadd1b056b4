package planview

import (
	"cmp"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// How many lines tell of what failed, and of what was skipped, and how many
// skipped steps get a line each rather than one for a common reason.
const (
	mostLines   = 50
	mostSkipped = 10
)

// Unfinished writes a line for every step that failed, and for every one that
// was skipped, both in the order of the plan. Many that were skipped for one
// reason share a line. Nothing is written where all went well.
func Unfinished(w io.Writer, p *plan.Plan, results []Result, palette *color.Palette) error {
	failed, skipped := troubles(p, results, event.Failed), troubles(p, results, event.Skipped)
	if len(skipped) > mostSkipped {
		skipped = grouped(skipped)
	}
	rows := append(rowsOf(failed, palette.Goes("failed"), palette), rowsOf(skipped, palette.Changes("skipped"), palette)...)
	if len(rows) == 0 {
		return nil
	}
	return table.Write(w, []string{"RESULT", "ACTION", "NAMESPACE", "OBJECT", "WHY"}, rows)
}

func rowsOf(troubles []trouble, result string, palette *color.Palette) [][]string {
	var rows [][]string
	more := 0
	for i, t := range troubles {
		if i < mostLines {
			rows = append(rows, t.row(result, palette))
		} else {
			more += len(t.steps)
		}
	}
	if more > 0 {
		rows = append(rows, []string{result, "", "", "… and " + wording.Thousands(more) + " more"})
	}
	return rows
}

// trouble is one reason, of one step or of several with one act.
type trouble struct {
	steps  []*plan.Step
	reason reason.Reason
}

// troubles are the steps that ended so, in the order of the plan.
func troubles(p *plan.Plan, results []Result, status event.Status) []trouble {
	why := map[string]reason.Reason{}
	for _, r := range results {
		if r.Status == status {
			why[r.Step] = r.Reason
		}
	}
	var out []trouble
	for i := range p.Steps {
		if because, ended := why[p.Steps[i].ID]; ended {
			out = append(out, trouble{[]*plan.Step{&p.Steps[i]}, because})
		}
	}
	return out
}

// grouped puts troubles of one act and reason into one, the most frequent first.
func grouped(troubles []trouble) []trouble {
	var out []trouble
	place := map[[3]string]int{}
	for _, t := range troubles {
		because := reason.Store(t.reason)
		key := [3]string{string(t.steps[0].Action), string(because.Code), string(because.Parameters)}
		i, seen := place[key]
		if !seen {
			i = len(out)
			place[key] = i
			out = append(out, trouble{reason: t.reason})
		}
		out[i].steps = append(out[i].steps, t.steps...)
	}
	slices.SortStableFunc(out, func(a, b trouble) int { return cmp.Compare(len(b.steps), len(a.steps)) })
	return out
}

func (t trouble) row(status string, palette *color.Palette) []string {
	first := t.steps[0].Object.Identity
	where, what := namespace(first), name(first)
	if more := len(t.steps) - 1; more > 0 {
		what += " and " + wording.Thousands(more) + " more"
		if slices.ContainsFunc(t.steps, func(s *plan.Step) bool { return s.Object.Namespace != first.Namespace }) {
			where = "*"
		}
	}
	act := t.steps[0].Action
	return []string{status, paint(act, word(act), palette), where, what, escape.Short(reason.Message(t.reason), reasonWidth)}
}
