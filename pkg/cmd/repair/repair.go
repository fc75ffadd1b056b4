// Package repair is the command kubectl gc repair.
package repair

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type repairCommand struct {
	options    *cli.MutatingOptions
	selector   string
	rules      []string
	fix        string
	references []string // UIDs of owners

	selection cli.Selection
	repairs   plan.RepairOptions
}

// autoFix chooses the repair per reference.
const autoFix = "auto"

// fixes are the values of --fix.
var fixes = cli.Choices{
	autoFix + "\tchoose per reference",
	string(repair.Unlink) + "\tremove the reference",
	string(repair.Relink) + "\tpoint it at the object that now has the owner's name",
	string(repair.UpdateVersion) + "\tchange its apiVersion to one that is served",
}

// New returns the command repair.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &repairCommand{options: cli.NewMutatingOptions("repair", scan)}
	cmd := &cobra.Command{
		Use:   "repair [TYPE/NAME ...] [-l SELECTOR]",
		Short: "Fix broken owner references",
		Long: `Fix broken owner references. There are three repairs:

  unlink          removes a reference to an owner that is gone or impossible
  relink          points it at the object that now has the owner's name
  update-version  changes an apiVersion that is not served to one that is

It chooses the repair per reference; "` + cli.CommandName + ` audit" shows which. It changes
a valid reference only if --reference names it, or to the preferred version
with --fix update-version. It leaves a reference that it cannot verify as it
is, and points others only at owners that it has read. It deletes nothing.

Without targets, it repairs everything in the whole cluster, or in the
namespace that -n names. First it shows what it would change, and what the
garbage collector would do otherwise. Then it asks, backs up the objects,
repairs those that have not changed since, and scans again.

Exit codes: 0 done, and a complete scan found nothing left; 1 a step failed, or
something is left, cannot be repaired or is not verified; 2 error: wrong usage,
or the cluster cannot be read; 3 incomplete scan with --strict; 4 not
confirmed; 130 interrupted.`,
		Example: cli.Examples(`
# Preview what would be repaired, and what would happen otherwise
kubectl gc repair --dry-run

# Preview it, and ask the API server whether it would accept each step
kubectl gc repair --dry-run=server

# After a restore: point references at the new owners of the same names
kubectl gc repair --rule replaced-owner

# One object
kubectl gc repair statefulset/redis-exporter -n monitoring

# Objects with a label, in all namespaces
kubectl gc repair -l app=web

# Before an upgrade: all references to the preferred versions of their owners
kubectl gc repair --fix update-version --dry-run

# A reference to a kind that no longer exists
kubectl gc repair configmap/flags -n shop --fix unlink

# Break a cycle at one valid reference
kubectl gc repair configmap/egg -n shop --fix unlink --reference 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# Run exactly what a preview showed, without a terminal
kubectl gc repair --confirm 5f2a9c41d07e9b12`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: scan.CompleteTargets,
		RunE:              c.run,
	}
	c.options.AddFlags(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&c.selector, "selector", "l", "", "Repair only objects with these labels.")
	flags.StringSliceVar(&c.rules, "rule", nil, "Repair only references that these rules flag; "+cli.CommandName+" explain lists them.")
	flags.StringVar(&c.fix, "fix", autoFix, "How to repair: auto, unlink, relink or update-version.")
	flags.StringSliceVar(&c.references, "reference", nil, "With --fix unlink: remove references to this owner UID, even valid ones.")
	cli.CompleteFlag(cmd, "fix", cli.CompleteOne(fixes...))
	cli.CompleteFlag(cmd, "rule", cli.CompleteRules(audit.RepairableRules))
	return cmd
}

func (c *repairCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.options.Complete(cmd, args); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := c.selectReferences(args); err != nil {
		return err
	}
	scope, err := c.scope(ctx)
	if err != nil {
		return err
	}
	job := cli.Job{Options: c.options, Scope: scope, Plan: c.plan, Remaining: c.planRemaining}
	seen, err := cli.Scan(ctx, job)
	if err != nil {
		return err
	}
	if err := c.validateIn(seen.Graph()); err != nil {
		return err
	}
	now, err := cli.Plan(ctx, job, seen)
	if err != nil {
		return err
	}
	notes, err := c.choiceNotes(seen, now.Plan)
	if err != nil {
		return err
	}
	if len(notes) == 0 && (len(c.rules) > 0 || len(c.selection.Targets) > 0) && len(now.Plan.Steps)+len(now.Plan.Blocked) == 0 {
		notes = append(notes, "Nothing that was selected has a reference to repair. To see what needs a repair: "+c.options.Scan.Suggest("audit"))
	}
	return cli.Run(ctx, job, now, notes...)
}

// plan plans the repairs of the selected objects that exist. Accepted gaps make no difference: a reference
// whose owner could not be read is never changed.
func (c *repairCommand) plan(ctx context.Context, seen cli.Scanned, _ snapshot.AcceptedGaps) (*plan.Plan, error) {
	return c.planRemaining(ctx, nil, seen)
}

// planRemaining plans the same repairs again.
func (c *repairCommand) planRemaining(_ context.Context, _ *plan.Plan, seen cli.Scanned) (*plan.Plan, error) {
	g := seen.Graph()
	targets := graph.NewSet(g)
	_ = c.selection.Find(g, targets) // it stops at the first one that is missing
	options := c.repairs
	options.Within = func(n graph.Node) bool { return c.selects(g.Object(n), n, targets) }
	return plan.NewRepair(seen.Judge, options), nil
}
