package planview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// SummaryLine returns in one line, without its line break, what a plan does and where, how much
// stays blocked, and whether the scan was complete. where follows what it does, with a space
// before it; it may be empty.
func SummaryLine(p *plan.Plan, where string) string {
	if p.Mode.Cascades() {
		return deletionSummaryLine(p, where)
	}
	sum := countActions(p, word, func(*plan.Step) bool { return true })
	if sum == "" {
		sum = "Nothing to do"
	}
	sum += where
	if n := p.Losses() - p.Summary.Delete; n > 0 {
		sum += "; " + wording.Count(n, "more object") + " along with them"
	}
	sum += rest(len(p.Blocked), "remains blocked", "remain blocked")
	sum += rest(len(p.Kept), "is left alone", "are left alone")
	return sum + ". " + wording.Scan(p.Complete)
}

// rest returns a further part of a summary: n with the verb for one object or for several.
// It returns an empty string if n is zero.
func rest(n int, one, several string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 " + one
	}
	return "; " + wording.Thousands(n) + " " + several
}

// countActions counts the steps that match, as in "delete 3, unlink 1". It returns an empty
// string if none does.
func countActions(p *plan.Plan, word func(plan.Action) string, matches func(*plan.Step) bool) string {
	found := map[plan.Action]int{}
	for i := range p.Steps {
		if matches(&p.Steps[i]) {
			found[p.Steps[i].Action]++
		}
	}
	var out []string
	for _, action := range slices.SortedFunc(maps.Keys(found), func(a, b plan.Action) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), cmp.Compare(a, b))
	}) {
		out = append(out, word(action)+" "+wording.Thousands(found[action]))
	}
	return strings.Join(out, ", ")
}

// DeletionSummary returns in one line, without its line break, how many objects of each
// kind a deletion deletes, and whether PersistentVolumeClaims are among them. It returns an
// empty string if nothing is deleted.
func DeletionSummary(p *plan.Plan, palette *color.Palette) string {
	counts := map[schema.GroupKind]int{}
	critical := map[schema.GroupKind]bool{}
	claims := false
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; p.Deletes(o) {
			kind := groupKind(o.Object)
			counts[kind]++
			critical[kind] = o.Object.IsNamespace() || o.Object.IsCRD() || isStorage(o.Object)
			claims = claims || isClaim(o.Object)
		}
	}
	if len(counts) == 0 {
		return ""
	}
	var parts []string
	kinds := slices.Collect(maps.Keys(counts))
	sort.Slice(kinds, func(i, j int) bool {
		return cmp.Or(strings.Compare(kinds[i].Kind, kinds[j].Kind), strings.Compare(kinds[i].Group, kinds[j].Group)) < 0
	})
	for _, kind := range kinds {
		one := escape.Word(kind.Kind) + " " + wording.Thousands(counts[kind])
		if critical[kind] {
			one = palette.Deleted(one)
		}
		parts = append(parts, one)
	}
	line := "Deletes: " + strings.Join(parts, ", ")
	if !claims {
		line += "; no PersistentVolumeClaim"
	}
	return line + "."
}

func deletionSummaryLine(p *plan.Plan, where string) string {
	var deleted, blocked, uncertain, keep int
	unclear := map[object.Identity]bool{}
	for i := range p.Outcomes {
		switch o := &p.Outcomes[i]; {
		case o.State == plan.Deleted:
			deleted++
		case o.State == plan.Terminating && p.Deletes(o):
			blocked++
		}
		if o := &p.Outcomes[i]; o.Nondeterministic.Reason != nil {
			unclear[o.Object] = true
			uncertain++
		}
	}
	for _, s := range p.Retained {
		switch {
		case unclear[s.Object]:
		case s.Uncertain:
			uncertain++
		default:
			keep++
		}
	}
	if deleted+blocked+keep+uncertain+len(p.DeletedLater)+len(p.Blocked) == 0 {
		return "Nothing to do" + where + ". " + wording.Scan(p.Complete)
	}
	var parts []string
	if p.Mode == plan.FinalizerRemoval {
		parts = append(parts, word(plan.ActionRemoveFinalizer)+" "+wording.Thousands(countRequested(p)))
	}
	if n := deleted + blocked; n > 0 || len(parts) == 0 {
		part := "delete " + wording.Thousands(n)
		if blocked > 0 {
			part += " (" + wording.Thousands(blocked) + " blocked)"
		}
		parts = append(parts, part)
	}
	add := func(words string, n int) {
		if n > 0 {
			parts = append(parts, words+" "+wording.Thousands(n))
		}
	}
	add("delete later", len(p.DeletedLater))
	add("keep", keep)
	add("uncertain", uncertain)
	return strings.Join(parts, ", ") + where + ". " + wording.Scan(p.Complete)
}

func countRequested(p *plan.Plan) int {
	n := 0
	for i := range p.Steps {
		if p.Steps[i].Requested {
			n++
		}
	}
	return n
}

// CriticalDeletions names the namespaces, CustomResourceDefinitions, volumes, claims and
// objects in kube-system that the plan deletes, with their contents, in the order of the
// plan.
func CriticalDeletions(p *plan.Plan) []string {
	var out []string
	l := newLayout(p)
	for i := range l.lines {
		if o := l.main(i).Object.Identity; l.deletes(i) && critical(o) {
			text := arguments(o)
			if what, how := l.contentsOf(i); what != "" {
				text += ": " + what + " " + how
			}
			out = append(out, text)
		}
		for _, o := range l.lines[i].contents {
			if critical(o) {
				out = append(out, arguments(o))
			}
		}
	}
	return out
}

func critical(o object.Identity) bool {
	return o.Namespace == "kube-system" || o.IsNamespace() || o.IsCRD() || isStorage(o)
}

// AcceptedGaps names the gaps that the user accepted, and per object what is done only
// because of that, in at most limit lines. It returns nil if there are none.
func AcceptedGaps(p *plan.Plan, limit int, palette *color.Palette) []string {
	if len(p.AcceptedGaps) == 0 {
		return nil
	}
	var lines []string
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.AcceptedGaps) > 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s", palette.Changed(arguments(s.Object.Identity)), despiteGap(s)))
		}
	}
	head := "Accepted although it could not be read: " + escape.Word(strings.Join(p.AcceptedGaps, ", ")) + "."
	if len(lines) == 0 {
		return []string{head + " No action depends on it."}
	}
	if more := len(lines) - limit; more > 0 {
		lines = append(lines[:limit], fmt.Sprintf("  and %d more", more))
	}
	return append([]string{head + " These actions depend on it:"}, lines...)
}

// despiteGap returns what a step does, and what was not read before.
func despiteGap(s *plan.Step) string {
	in := escape.Line(strings.Join(s.AcceptedGaps, ", "))
	switch {
	case s.Action == plan.ActionRemoveFinalizer:
		return fmt.Sprintf("removes finalizer %s although its dependents in %s were not read", escape.Word(s.Finalizer), in)
	case s.Action == plan.ActionDelete && simulate.DeletesContents(s.Object.Identity):
		return fmt.Sprintf("deletes it although its contents in %s were not read; they are deleted with it and not backed up", in)
	case s.Action == plan.ActionDelete:
		return fmt.Sprintf("deletes it; the decision depends on %s, which was not read", in)
	}
	return fmt.Sprintf("changes its owner references although its dependents in %s were not read", in)
}

// NotRestored returns lines about what a restoration does not restore, and for which objects.
// It returns nil if nothing is lost.
func NotRestored(p *plan.Plan, palette *color.Palette) []string {
	if len(p.Lost) == 0 {
		return nil
	}
	lines := []string{"Not restored:"}
	for _, lost := range p.Lost {
		line := "  " + palette.Changed(escape.Line(lost.Reason.Message()))
		if len(lost.Objects) > 0 {
			names := make([]string, len(lost.Objects))
			for n, o := range lost.Objects {
				names[n] = arguments(o)
			}
			line += ": " + wording.List(names, maxNames)
		}
		lines = append(lines, line)
	}
	return lines
}
