package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// planObjects returns the objects that -o name names: those of the steps, or of a deletion
// those that are deleted.
func planObjects(p *plan.Plan) []object.Identity {
	var out []object.Identity
	if !p.Mode.Cascades() {
		for i := range p.Steps {
			out = append(out, p.Steps[i].Object.Identity)
		}
		return out
	}
	for _, lost := range p.LostObjects {
		out = append(out, lost.Object)
	}
	slices.SortFunc(out, object.Identity.Compare)
	return out
}

// maxPreviewLines is how many lines of a preview are printed, unless the format is wide, and maxScreens how
// many times the lines of a terminal.
const (
	maxPreviewLines = 1000
	maxScreens      = 2
)

// usualHeight is how many lines a terminal is taken to have whose height is unknown.
const usualHeight = 40

// screen returns how many lines the terminal has that a preview is written to; ok is false if
// it is written elsewhere.
func (s *Streams) screen(out io.Writer) (lines int, ok bool) {
	if out == s.Err && !s.ErrTerm || out != s.Err && !s.OutTerm {
		return 0, false
	}
	return cmp.Or(s.Height(), usualHeight), true
}

// previewLimit returns how many lines of a plan a person sees: all of them, which is 0, if the format is wide; on a
// terminal about what it shows, unless each line needs a look, as in a repair or a restoration.
func previewLimit(o *MutatingOptions, p *plan.Plan, out io.Writer) int {
	if o.Output.Format == wide {
		return 0
	}
	if lines, ok := o.Scan.screen(out); ok && (p.Mode == plan.Collect || p.Mode.Cascades()) {
		return min(maxScreens*lines, maxPreviewLines)
	}
	return maxPreviewLines
}

// preview prints the plan: for a program if it is the result of the command, for a person
// always, on standard error if standard output is for a program.
func preview(o *MutatingOptions, p *plan.Plan, notes []string) error {
	out := o.Scan.Text()
	switch {
	case o.Output.Structured() && o.DryRun == dryRunClient:
		return o.Output.Write(plan.Kind, p, planObjects(p)...)
	case o.ForPerson():
	case o.Prompts() && o.Mutates():
		out = o.Scan.Err
	default:
		return nil
	}
	palette := o.Scan.Palette()
	if grants := planview.Grants(p); grants != "" {
		fmt.Fprintln(out, palette.Deleted(grants))
	}
	left, err := planview.Preview(out, p, previewLimit(o, p, out), palette)
	if err != nil {
		return err
	}
	notes = slices.Clip(notes)
	if p.Mode.Cascades() {
		if keeps, sentence, hangs := planview.Hangs(p); hangs {
			notes = append(notes, sentence+": "+o.Scan.ExplainCommand(keeps, ""))
		}
	}
	if sum := planview.DeletionSummary(p, palette); sum != "" && (left > 0 || p.Mode.Cascades()) {
		notes = append(notes, sum)
	}
	if sum := planview.DataSummary(p, palette); sum != "" {
		notes = append(notes, sum)
	}
	for _, note := range slices.Concat(notes, planview.Impacts(p, palette), planview.NotRestored(p, palette), planview.AcceptedGaps(p, maxPreviewLines, palette)) {
		if _, err := fmt.Fprintln(out, note); err != nil {
			return err
		}
	}
	var kept []object.Identity // that the line counts
	for i := range p.Retained {
		if p.Mode.Cascades() {
			kept = append(kept, p.Retained[i].Object)
		}
	}
	sum := planview.SummaryLine(p, o.place(p, kept...))
	switch {
	case o.DryRun == dryRunClient && len(p.Steps) == 0: // there is nothing to confirm
		sum += " Nothing was changed: dry run."
	case o.DryRun == dryRunClient:
		sum += fmt.Sprintf(" Nothing was changed: dry run, digest %s.", p.Digest())
	}
	for _, line := range lostBackends(o, p) {
		sum += "\n" + palette.Deleted(line)
	}
	_, err = fmt.Fprintln(out, sum)
	return err
}

// maxLostBackends is how many of the plan's LostBackends are named; -o json names all.
const maxLostBackends = 5

// lostBackends returns what stops working for the whole cluster after a plan, in a line each, with what to do before.
func lostBackends(o *MutatingOptions, p *plan.Plan) (lines []string) {
	for i, b := range p.LostBackends {
		if i == maxLostBackends {
			return append(lines, fmt.Sprintf("… and %d more: to see all of them, use -o json", len(p.LostBackends)-i))
		}
		lines = append(lines, "After this, "+escape.Sentence(b.Message())+". Before, if nothing needs it: "+
			o.Scan.Suggest("delete", strings.ToLower(b.Object.Kind)+"/"+b.Object.Name, "--dry-run"))
	}
	if p.BackendsUnknown {
		lines = append(lines, "It is unknown whether the API server calls a Service that goes: this tool could not read every APIService, webhook configuration and CustomResourceDefinition.")
	}
	return lines
}

// hintConfirm tells, after a dry run, how to carry out this plan, unless that would be refused.
func hintConfirm(o *MutatingOptions, p *plan.Plan, refused []deniedRight) {
	cannotRun := o.Scan.From != "" || len(refused) > 0 || o.Scan.Strict && !p.CompleteButAccepted() || o.exceedsMaxDeletes(p) != "" || len(p.Breaks()) > 0 && !o.allowInUse
	if o.ForPerson() && len(p.Steps) > 0 && !cannotRun {
		fmt.Fprintf(o.Scan.Err, "Run exactly this plan: %s --confirm %s\n", o.rerunCommand(), p.Digest())
	}
}

// IncompleteNotes says what deletions of a plan may do to objects that an incomplete scan could not
// read.
func IncompleteNotes(p *plan.Plan) []string {
	orphans, deletes := false, false
	for _, s := range p.Steps {
		switch {
		case s.Action != plan.ActionDelete:
		case s.Deletion.Policy == metav1.DeletePropagationOrphan && !simulate.DeletesContents(s.Object.Identity):
			orphans = true
		default:
			deletes = true
		}
	}
	if !orphans { // the removal of a finalizer may delete, too
		deletes = deletes || slices.ContainsFunc(p.Outcomes, func(o plan.Outcome) bool { return o.State == plan.Deleted })
	}
	switch {
	case p.Complete:
	case deletes:
		notes := []string{"The scan is incomplete: this may also delete objects that this tool could not read."}
		secrets := func(g snapshot.Gap) bool { return g.Group == "" && g.Resource == "secrets" }
		if slices.ContainsFunc(p.Gaps, secrets) && len(lost(p, object.Identity.IsServiceAccount, object.Identity.String)) > 0 {
			notes = append(notes, "The token Secrets of a ServiceAccount go with it, and this tool could not read them: they are not counted, and a backup does not have them.")
		}
		return notes
	case orphans:
		return []string{"The scan is incomplete: there may be more dependents, which stay."}
	}
	return nil
}
