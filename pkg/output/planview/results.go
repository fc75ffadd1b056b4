package planview

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// RunSummary returns what a run did: how many of the objects that the plan deletes are gone, which other steps were
// done, and why the first that failed did. There is a result for each step, an empty one for a step that is left to
// the garbage collector. It ends with found, what was found afterwards. If stuck is not empty, head is a line
// before, which that ends.
func RunSummary(p *plan.Plan, results []event.Result, gone int, stuck, found string, elapsed time.Duration) (head, line string) {
	ended := map[string]event.Status{}
	counts := map[event.Status]int{}
	for i := range p.Steps {
		ended[p.Steps[i].ID] = results[i].Status
		counts[results[i].Status]++
	}
	planned := 0
	for _, lost := range p.LostObjects {
		if lost.By == nil || ended[lost.By.ID] != "" {
			planned++
		}
	}
	text := countActions(p, countPast, func(s *plan.Step) bool { return s.Action != plan.ActionDelete && ended[s.ID] == event.Done })
	if planned > 0 && (gone > 0 || counts[event.Done] > 0) {
		deleted := "deleted " + wording.Thousands(gone)
		if gone < planned {
			deleted += " of " + wording.Thousands(planned)
		}
		text = joined(", ", deleted, text)
	}
	text = cmp.Or(text, "nothing was changed") + " in " + took(elapsed)
	failed := some(counts[event.Failed], "1 failed", "%s failed")
	if first := slices.IndexFunc(results, func(r event.Result) bool { return r.Status == event.Failed }); first >= 0 {
		failed += ": " + name(p.Steps[first].Object.Identity) + ": " + strings.TrimRight(escape.Line(results[first].Reason.Message()), ".")
	}
	toGo := 0
	if gone > 0 {
		toGo = min(countAfterNode(p), planned-gone)
	}
	rest := joined("; ", joined(", ",
		some(counts[event.Skipped], "1 skipped", "%s skipped"),
		some(toGo, "1 to go "+afterNode, "%s to go "+afterNode),
		failed), found)
	switch {
	case stuck == "":
		return "", joined("; ", text, rest) + "."
	case rest != "":
		rest = sentence(rest)
	}
	return sentence(text) + " " + stuck, rest
}

func sentence(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] + "." }

// Stuck returns an object that a run has not deleted, one that was requested if there is any, and
// what holds it, as a sentence; ok is false if nothing is blocked.
func Stuck(p *plan.Plan, blocked []plan.Blocked) (stuck object.Identity, sentence string, ok bool) {
	if len(blocked) == 0 {
		return object.Identity{}, "", false
	}
	first := max(0, slices.IndexFunc(blocked, func(b plan.Blocked) bool {
		return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Requested && s.Object.Identity == b.Object })
	}))
	return blocked[first].Object, name(blocked[first].Object) + " " + escape.Line(blocked[first].Reason.Message()) + ".", true
}

// Hangs returns an object that keeps a namespace or CustomResourceDefinition which the plan deletes, and says so
// in a sentence without its full stop; ok is false if nothing does that only an unknown controller ends.
func Hangs(p *plan.Plan) (keeps object.Identity, sentence string, ok bool) {
	follows := map[object.Identity]string{}
	for i := range p.Outcomes {
		follows[p.Outcomes[i].Object] = p.Outcomes[i].Follows
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for k := range p.Blocked {
			b := &p.Blocked[k]
			_, unknown := byController(b.Finalizers)
			contained := s.Object.IsNamespace() && b.Object.Namespace == s.Object.Name || s.Object.IsCRD() && follows[b.Object] == s.ID
			if s.Action == plan.ActionDelete && contained && len(unknown) > 0 {
				return b.Object, name(s.Object.Identity) + " will hang in Terminating until " + removal(b.Finalizers, listed(p)) + " from " + name(b.Object), true
			}
		}
	}
	return object.Identity{}, "", false
}

func took(elapsed time.Duration) string {
	if elapsed < time.Second {
		return elapsed.Round(time.Millisecond).String()
	}
	return duration.HumanDuration(elapsed)
}

// At most maxLines failed steps are shown, and as many skipped ones. More than maxSkipped
// skipped steps share a line per reason.
const (
	maxLines   = 50
	maxSkipped = 10
)

// Unfinished writes a line for each step that failed, then for each that was skipped, in
// the order of the plan. It writes nothing if there are none. There is a result for each step.
func Unfinished(w io.Writer, p *plan.Plan, results []event.Result, palette *color.Palette) error {
	failed, skipped := stepsWith(event.Failed, p, results), stepsWith(event.Skipped, p, results)
	rows := append(rowsOf(failed, palette.Deleted("failed"), palette), rowsOf(grouped(skipped), palette.Changed("skipped"), palette)...)
	if len(rows) == 0 {
		return nil
	}
	return table.Write(w, []string{"RESULT", "ACTION", "NAMESPACE", "OBJECT", "WHY"}, rows, shrink...)
}

func rowsOf(groups []stepGroup, result string, palette *color.Palette) [][]string {
	var rows [][]string
	more := 0
	for i, g := range groups {
		if i < maxLines {
			rows = append(rows, g.row(result, palette))
		} else {
			more += len(g.steps)
		}
	}
	if more > 0 {
		rows = append(rows, []string{result, "", "", "… and " + wording.Thousands(more) + " more"})
	}
	return rows
}

// stepGroup is one or several steps with the same action and reason.
type stepGroup struct {
	steps  []*plan.Step
	reason *reason.Reason
}

func stepsWith(status event.Status, p *plan.Plan, results []event.Result) []stepGroup {
	var out []stepGroup
	for i, r := range results {
		if r.Status == status {
			out = append(out, stepGroup{[]*plan.Step{&p.Steps[i]}, r.Reason})
		}
	}
	return out
}

// grouped joins many groups if they have the same action and reason, the most frequent first.
func grouped(groups []stepGroup) []stepGroup {
	if len(groups) <= maxSkipped {
		return groups
	}
	var out []stepGroup
	index := map[[2]string]int{}
	for _, g := range groups {
		why, err := json.Marshal(g.reason)
		if err != nil {
			panic(err) // a reason holds only strings and numbers
		}
		key := [2]string{string(g.steps[0].Action), string(why)}
		i, seen := index[key]
		if !seen {
			i = len(out)
			index[key] = i
			out = append(out, stepGroup{reason: g.reason})
		}
		out[i].steps = append(out[i].steps, g.steps...)
	}
	slices.SortStableFunc(out, func(a, b stepGroup) int { return cmp.Compare(len(b.steps), len(a.steps)) })
	return out
}

func (g stepGroup) row(status string, palette *color.Palette) []string {
	first := g.steps[0].Object.Identity
	where, what := namespace(first), name(first)
	if more := len(g.steps) - 1; more > 0 {
		what += " and " + wording.Thousands(more) + " more"
		if slices.ContainsFunc(g.steps, func(s *plan.Step) bool { return s.Object.Namespace != first.Namespace }) {
			where = "*"
		}
	}
	action := g.steps[0].Action
	return []string{status, paint(action, word(action), palette), where, what, escape.Line(g.reason.Message())}
}
