// Package collect is the command kubectl gc collect.
package collect

import (
	"cmp"
	"context"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type collectCommand struct {
	options *cli.MutatingOptions
	rules   []string
}

// New returns the command collect.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &collectCommand{options: cli.NewMutatingOptions("collect", scan)}
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Run one pass of the garbage collector: preview, confirm, run",
		Long: `Run one complete pass of the garbage collector: for a cluster whose own
collector is disabled, missing or broken, or to preview what it would do. To
run all the time: ` + cli.CommandName + ` controller --yes

First it shows the plan: which objects it deletes, which references and
finalizers it removes, and which deletions stay blocked, and by what. Then it
asks, backs up what it will delete, carries out the plan, and scans again.

It collects the whole cluster unless -n names a namespace. It never treats an
object as missing only because it could not read it. It writes only if the
object has not changed since the plan. If an object that could not be read may
depend on another object, that object keeps its finalizer. To proceed anyway,
name the type with --accept-gap.

Exit codes: 0 done, and a complete scan found nothing left; 1 a step failed, or
something is left, blocked or not verified; 2 error: wrong usage, or the
cluster cannot be read; 3 incomplete scan with --strict; 4 not confirmed;
130 interrupted.`,
		Example: cli.Examples(`
# Preview a pass
kubectl gc collect --dry-run

# Preview it, and ask the API server whether it would accept each step
kubectl gc collect --dry-run=server

# Run it, after a preview and a confirmation
kubectl gc collect

# Show every line of a plan that does not fit on the terminal
kubectl gc collect --dry-run -o wide

# Run it with at most 50 writes per second
kubectl gc collect --rate 50/s

# Run exactly what a preview showed: later, or without a terminal
kubectl gc collect --confirm 5f2a9c41d07e9b12

# Go on although the metrics API is down
kubectl gc collect --accept-gap metrics.k8s.io

# In one namespace, only objects whose owner was replaced by another of the
# same name
kubectl gc collect -n shop --rule replaced-owner`),
		Args: cli.NoArguments,
		RunE: c.run,
	}
	c.options.AddFlags(cmd)
	flags := cmd.Flags()
	c.options.AddAcceptGapFlag(flags)
	c.options.AddMaxDeletesFlag(flags)
	c.options.AddInUseFlag(flags)
	flags.StringSliceVar(&c.rules, "rule", nil, "Start only from objects that these rules flag; "+cli.CommandName+" explain lists them.")
	cli.CompleteFlag(cmd, "rule", cli.CompleteRules(audit.IDs()))
	return cmd
}

func (c *collectCommand) run(cmd *cobra.Command, args []string) error {
	if err := cmp.Or(c.options.Complete(cmd, args), cli.CheckRules(c.rules)); err != nil {
		return err
	}
	ctx := cmd.Context()
	job := cli.Job{Options: c.options, Scope: c.scope(), Plan: c.plan, Remaining: c.planRemaining}
	seen, err := cli.Scan(ctx, job)
	if err != nil {
		return err
	}
	now, err := cli.Plan(ctx, job, seen)
	if err != nil {
		return err
	}
	var notes []string
	if len(c.rules) > 0 && len(now.Plan.Steps)+len(now.Plan.Blocked) == 0 {
		audit := c.options.Scan.Suggest("audit", "--rule", strings.Join(c.rules, ","))
		notes = append(notes, "The garbage collector does nothing about what --rule selects. To see what that is: "+audit)
	}
	return cli.Run(ctx, job, now, notes...)
}

// scope is what the command scans: the cluster, or the namespace of -n.
func (c *collectCommand) scope() scan.Scope {
	return c.options.Scan.Everything(scan.Scope{Running: true})
}

// plan plans one pass of the garbage collector.
func (c *collectCommand) plan(_ context.Context, seen cli.Scanned, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	o := plan.CollectPurpose(accepted)
	o.Bounds.Within = c.options.Scan.InScope(seen.Graph())
	if len(c.rules) > 0 {
		roots, err := c.flagged(seen.Judge)
		if err != nil {
			return nil, err
		}
		o.Bounds.Roots = roots
	}
	return plan.New(seen.Judge, o), nil
}

// planRemaining plans another pass.
func (c *collectCommand) planRemaining(ctx context.Context, _ *plan.Plan, after cli.Scanned) (*plan.Plan, error) {
	return c.plan(ctx, after, c.options.AcceptedGaps)
}

// flagged returns a filter for the objects that the rules of --rule flag.
func (c *collectCommand) flagged(j *collector.Judge) (func(graph.Node) bool, error) {
	// For a pass, no deletion is too recent, not even one that is in the future by our clock.
	report, err := audit.Run(j, audit.Filter{Rules: c.rules, Namespace: c.options.Scan.Config.Namespace(), StuckAfter: math.MinInt64})
	if err != nil {
		return nil, err
	}
	flagged := graph.NewSet(j.Graph())
	for _, finding := range report.Findings {
		flagged.Add(j.Graph().Find(finding.Object.UID))
		for _, member := range finding.Members {
			flagged.Add(j.Graph().Find(member.UID))
		}
	}
	return flagged.Has, nil
}
