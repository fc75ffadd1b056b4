package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// GapFlags is the flag by which a person accepts that something could not be read.
type GapFlags struct{ names []string }

func (a *GapFlags) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&a.names, "accept-gap", nil, "proceed although this type (RESOURCE or RESOURCE.GROUP) or API group could not be read; dependents and namespace contents of that type are then unknown")
}

func (a *GapFlags) Validate() error {
	if slices.ContainsFunc(a.names, func(word string) bool { return word == "" || strings.ContainsAny(word, "*/ ") }) {
		return Usagef("--accept-gap %s: name a type as RESOURCE or RESOURCE.GROUP, or an API group, as the warning does", Quote(strings.Join(a.names, ",")))
	}
	return nil
}

func (a *GapFlags) Accepted() snapshot.AcceptedGaps { return a.names }

// warnOfUnusedAcceptGaps names the words that accept nothing.
func (a *Operation) warnOfUnusedAcceptGaps() {
	for _, word := range a.AcceptedGaps {
		if !slices.Contains(a.Current.Plan.AcceptedGaps, word) {
			fmt.Fprintf(a.Options.Scan.Err, "warning: --accept-gap %s has no effect: no gap with that name blocks this plan\n", escape.Short(word, 200))
		}
	}
}

// maxHintedObjects is how many objects a hint names.
const maxHintedObjects = 5

// hintAcceptGap says which gaps would have to be accepted for what is blocked to proceed, and
// what would.
func (a *Operation) hintAcceptGap() error {
	if a.PlanAccepting == nil || len(a.Current.Plan.Blocked) == 0 {
		return nil
	}
	words := plan.AcceptableGaps(a.Current.Graph, a.Current.Plan)
	if len(words) == 0 {
		return nil
	}
	supposed, err := a.PlanAccepting(slices.Concat(a.AcceptedGaps, words))
	if err != nil {
		return err
	}
	var needed snapshot.AcceptedGaps
	var proceeding []string
	known := map[object.Identity]bool{}
	for _, s := range supposed.Steps {
		var more snapshot.AcceptedGaps
		for _, word := range s.AcceptedGaps {
			if slices.Contains(words, word) {
				more = append(more, word)
			}
		}
		if len(more) == 0 {
			continue
		}
		needed = append(needed, more...)
		if o := s.Object.Identity; !known[o] {
			known[o] = true
			proceeding = append(proceeding, escape.Short(o.String(), 200))
		}
	}
	if len(needed) == 0 {
		return nil
	}
	slices.Sort(needed)
	var flags []string
	for _, word := range slices.Compact(needed) {
		flags = append(flags, "--accept-gap "+escape.Short(word, 200))
	}
	_, err = fmt.Fprintf(a.Options.Scan.Err, "hint: with %s, %s would be processed although related objects may be unread: %s\n",
		strings.Join(flags, " "), wording.Count(len(proceeding), "more object"), wording.List(proceeding, maxHintedObjects))
	return err
}
