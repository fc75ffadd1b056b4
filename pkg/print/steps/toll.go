package steps

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
)

// Toll says in one line, without its line break, how many objects of which type a
// deletion takes, and whether there are claims among them. It is empty where
// nothing goes.
func Toll(p *plan.Plan, palette *color.Palette) string {
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
		one := text(kind.Kind) + " " + phrase.Thousands(of[kind])
		if grave[kind] {
			one = palette.Goes(one)
		}
		said = append(said, one)
	}
	line := "goes: " + strings.Join(said, ", ")
	if !claims {
		line += "; no PersistentVolumeClaim"
	}
	return line + "."
}

// sumOfFates is the sum of a deletion.
func sumOfFates(p *plan.Plan) string {
	var gone, held, unsure, later int
	for i := range p.Outcomes {
		switch o := &p.Outcomes[i]; o.State {
		case plan.Deleted:
			gone++
		case plan.Terminating:
			held++
		case plan.Changed:
		}
		if p.Outcomes[i].Nondeterministic.Reason != nil {
			unsure++
		}
	}
	stay := 0
	for _, s := range p.Retained {
		if s.Uncertain {
			unsure++
		} else {
			stay++
		}
	}
	later = len(p.DeletedLater)
	if gone+held+stay+unsure+later+len(p.Blocked) == 0 {
		return "Nothing to do. " + view(p)
	}
	first := phrase.Thousands(gone+held) + verbOf(gone+held, " goes", " go")
	if held > 0 {
		first += " (" + phrase.Thousands(held) + " held up on the way)"
	}
	said := []string{first}
	add := func(n int, one, many string) {
		if n > 0 {
			said = append(said, phrase.Thousands(n)+verbOf(n, one, many))
		}
	}
	add(later, " more goes once that is let go of", " more go once that is let go of")
	add(stay, " stays", " stay")
	add(unsure, " cannot be told for sure", " cannot be told for sure")
	return strings.Join(said, ", ") + ". " + view(p)
}

func verbOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
