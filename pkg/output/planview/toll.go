package planview

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// DeletionSummary says in one line, without its line break, how many objects of which type a
// deletion takes, and whether there are claims among them. It is empty where
// nothing is deleted.
func DeletionSummary(p *plan.Plan, palette *color.Palette) string {
	of := map[schema.GroupKind]int{}
	grave := map[schema.GroupKind]bool{}
	claims := false
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.State != plan.Changed {
			kind := groupKind(o.Object)
			of[kind]++
			grave[kind] = o.Object.IsNamespace() || o.Object.IsDefinition() || isStorage(o.Object)
			claims = claims || isClaim(o.Object)
		}
	}
	if len(of) == 0 {
		return ""
	}
	var said []string
	for _, kind := range slices.SortedFunc(maps.Keys(of), func(a, b schema.GroupKind) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Group, b.Group))
	}) {
		one := text(kind.Kind) + " " + wording.Thousands(of[kind])
		if grave[kind] {
			one = palette.Goes(one)
		}
		said = append(said, one)
	}
	line := "Deletes: " + strings.Join(said, ", ")
	if !claims {
		line += "; no PersistentVolumeClaim"
	}
	return line + "."
}

// sumOfFates is the sum of a deletion.
func sumOfFates(p *plan.Plan) string {
	var gone, held, uncertain, later int
	for i := range p.Outcomes {
		switch o := &p.Outcomes[i]; o.State {
		case plan.Deleted:
			gone++
		case plan.Terminating:
			held++
		case plan.Changed:
		}
		if p.Outcomes[i].Nondeterministic.Reason != nil {
			uncertain++
		}
	}
	stay := 0
	for _, s := range p.Retained {
		if s.Uncertain {
			uncertain++
		} else {
			stay++
		}
	}
	later = len(p.DeletedLater)
	if gone+held+stay+uncertain+later+len(p.Blocked) == 0 {
		return "Nothing to do. " + wording.Scan(p.Complete)
	}
	first := "delete " + wording.Thousands(gone+held)
	if held > 0 {
		first += " (" + wording.Thousands(held) + " blocked)"
	}
	said := []string{first}
	add := func(words string, n int) {
		if n > 0 {
			said = append(said, words+" "+wording.Thousands(n))
		}
	}
	add("delete later", later)
	add("keep", stay)
	add("uncertain", uncertain)
	return strings.Join(said, ", ") + ". " + wording.Scan(p.Complete)
}
