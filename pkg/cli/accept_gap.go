package cli

import (
	"context"
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

// AddAcceptGapFlag adds the flag by which the user accepts that something could not be
// read.
func (o *MutatingOptions) AddAcceptGapFlag(flags *pflag.FlagSet) {
	flags.StringSliceVar((*[]string)(&o.AcceptedGaps), "accept-gap", nil, "Proceed although RESOURCE[.GROUP] or GROUP could not be read.")
	MarkAdvanced(flags, "accept-gap")
}

func (o *MutatingOptions) validateAcceptedGaps() error {
	noName := slices.ContainsFunc(o.AcceptedGaps, func(name string) bool { return name == "" || strings.ContainsAny(name, "*/ ") })
	return UsageIf(noName, "--accept-gap %s: name a type as RESOURCE or RESOURCE.GROUP, or an API group, as the warning does",
		Quote(strings.Join(o.AcceptedGaps, ",")))
}

func warnOfUnusedAcceptGaps(o *MutatingOptions, p *plan.Plan) {
	for _, name := range o.AcceptedGaps {
		if !slices.Contains(p.AcceptedGaps, name) {
			fmt.Fprintf(o.Scan.Err, "warning: --accept-gap %s has no effect: no gap with that name blocks this plan\n", escape.Short(name, 200))
		}
	}
}

// maxHintedObjects is how many objects a hint names.
const maxHintedObjects = 5

// hintAcceptGap names the gaps that the user would have to accept for blocked objects to
// be processed, and these objects.
func hintAcceptGap(ctx context.Context, j Job, now Planned) error {
	if len(now.Plan.Blocked) == 0 || j.Options.given.Lookup("accept-gap") == nil {
		return nil
	}
	names := plan.AcceptableGaps(now.Graph(), now.Plan)
	if len(names) == 0 {
		return nil
	}
	accepting, err := j.Plan(ctx, now.Scanned, slices.Concat(j.Options.AcceptedGaps, names))
	if err != nil {
		return err
	}
	var needed snapshot.AcceptedGaps
	var proceeding []string
	known := map[object.Identity]bool{}
	for _, s := range accepting.Steps {
		more := slices.DeleteFunc(slices.Clone(s.AcceptedGaps), func(name string) bool { return !slices.Contains(names, name) })
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
	for _, name := range slices.Compact(needed) {
		flags = append(flags, "--accept-gap "+escape.Short(name, 200))
	}
	_, err = fmt.Fprintf(j.Options.Scan.Err, "hint: with %s, this would also process %s, although it could not read everything that is related to them: %s\n",
		strings.Join(flags, " "), wording.Count(len(proceeding), "more object"), wording.List(proceeding, maxHintedObjects))
	return err
}
