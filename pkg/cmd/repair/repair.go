package repair

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

type repairFlags struct {
	options    *cli.MutatingOptions
	selector   string
	rules      []string
	fix        string
	references []string // UIDs of owners whose references are given up
}

func New(from *cli.ScanOptions) *cobra.Command {
	f := &repairFlags{options: cli.NewMutatingOptions("repair", from)}
	cmd := &cobra.Command{
		Use:   "repair [TYPE/NAME ...] [-l SELECTOR]",
		Short: "Repair owner references, so that the garbage collector does not act on them",
		Long: `Repair owner references that lead to no owner, instead of losing the objects that
have them. There are three repairs:

  unlink          removes a reference whose owner is gone, or can never be its owner
  relink          points a reference at the object that now has the owner's name
  update-version  changes an apiVersion that is not served to one that is

The repair is chosen per reference; "` + cli.CommandName + ` audit" shows it. A valid reference
is changed only if --reference names it, one that could not be verified is not
changed, and a changed reference always points at an owner that was read. Nothing
is deleted.

Without targets, it repairs everything in the whole cluster, or in the namespace
that -n names. First it shows what it would change, and what the garbage collector
would do without the repair. Then it asks, backs up the objects, repairs them, and
scans again. Every change is applied only if the object has not changed since.

Exit codes: 0 done, and a complete scan found nothing left, 1 a step failed, or
something is left, cannot be repaired or is not verified, 2 no answer, 3 an
incomplete scan with --strict, 4 not confirmed, 130 interrupted.`,
		Example: cli.Examples(`
# Preview what would be repaired, and what the garbage collector would do otherwise
kubectl gc repair --dry-run

# Preview it, and ask the API server whether it would accept each step
kubectl gc repair --dry-run=server

# After a restore: point references at the new owners of the same names
kubectl gc repair --rule replaced-owner

# One object
kubectl gc repair statefulset/redis-exporter -n monitoring

# Objects with a label, in all namespaces
kubectl gc repair -l app=web

# A reference to a kind that no longer exists
kubectl gc repair configmap/flags -n shop --fix unlink

# Break a cycle at one valid reference
kubectl gc repair configmap/egg -n shop --fix unlink --reference 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# Run exactly what a preview showed, without a terminal
kubectl gc repair --confirm 5f2a9c41d07e9b12`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: from.CompleteTargets,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.options.Complete(cmd, args); err != nil {
				return err
			}
			asked, err := f.selectReferences(args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), asked)
		},
	}
	f.options.AddFlags(cmd)
	flags := cmd.Flags()
	_ = flags.MarkHidden("max-deletes") // nothing is
	flags.StringVarP(&f.selector, "selector", "l", "", "repair only objects with these labels")
	flags.StringSliceVar(&f.rules, "rule", nil, "repair only references flagged by these audit rules: "+strings.Join(audit.RepairableRules(), ", "))
	flags.StringVar(&f.fix, "fix", chooseFix, "the repair: chosen per reference (auto), or only "+strings.Join(fixes.Values()[1:], ", "))
	flags.StringSliceVar(&f.references, "reference", nil, "with --fix unlink and one object: remove only its references to the owner with this UID, even if they are valid")
	cli.CompleteFlag(cmd, "fix", cli.CompleteOne(fixes.Described()...))
	cli.CompleteFlag(cmd, "rule", cli.CompleteSome(repairableRules()...))
	f.options.Scan.CompleteFlags(cmd)
	return cmd
}

// fixes are the values of --fix, with what they mean.
var fixes = cli.Choices{
	{chooseFix, "choose per reference"},
	{string(repair.Unlink), "remove the reference"},
	{string(repair.Relink), "point it at the object that now has the owner's name"},
	{string(repair.UpdateVersion), "change its apiVersion to one that is served"},
}

const chooseFix = "auto"

func (f *repairFlags) run(ctx context.Context, asked *selection) error {
	foresee := func(first bool) cli.PlanFunc {
		return func(_ context.Context, p *cli.PlannedScan) (err error) {
			p.Plan, err = asked.plan(p.Graph, first)
			return err
		}
	}
	a := &cli.Operation{Options: f.options, Scope: asked.scope, Replan: foresee(false)}
	if err := a.Prepare(ctx, foresee(true)); err != nil {
		return err
	}
	return a.Run(ctx)
}

// causes are those of the references of which the chosen rules speak.
func (f *repairFlags) causes() ([]collector.VerdictCause, error) {
	if err := audit.Check(f.rules); err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	var out []collector.VerdictCause
	for _, rule := range f.rules {
		cause, mends := audit.RepairFor(rule)
		if !mends {
			return nil, cli.WithHint(
				cli.Usagef("repair cannot repair what rule %s flags", cli.Quote(rule)), "rules that it can repair: "+strings.Join(audit.RepairableRules(), ", "),
			)
		}
		out = append(out, cause)
	}
	return out, nil
}

// how is the only fix to be made; empty: what fits.
func (f *repairFlags) how() (repair.Fix, error) {
	switch {
	case f.fix == chooseFix:
		return "", nil
	case slices.Contains(fixes.Values(), f.fix):
		return repair.Fix(f.fix), nil
	}
	return "", cli.Usagef("--fix %s: must be one of %s", cli.Quote(f.fix), strings.Join(fixes.Values(), ", "))
}

// repairableRules returns the rules whose findings can be repaired, each with its summary
// behind a tab.
func repairableRules() []string {
	var out []string
	for _, r := range audit.Rules {
		if _, repairable := audit.RepairFor(r.ID); repairable {
			out = append(out, r.ID+"\t"+r.Summary)
		}
	}
	return out
}
