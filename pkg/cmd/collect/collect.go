package collect

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type collectFlags struct {
	options  *cli.MutatingOptions
	gaps     cli.GapFlags
	rules    []string
	planOut  string
	planFile string
}

func New(from *cli.ScanOptions) *cobra.Command {
	f := &collectFlags{options: cli.NewMutatingOptions("collect", from)}
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Run one pass of the garbage collector: preview, confirm, run",
		Long: `Run one complete pass of the garbage collector: for a cluster whose own collector
is disabled, missing or broken, or to preview what it would do.

First it shows the plan: which objects it deletes, which references and finalizers
it removes, and which deletions remain blocked and by what. Then it asks, backs up
what it will delete, carries out the plan, and scans again.

It collects the whole cluster unless -n names a namespace. What could not be read
is never treated as absent: nothing is deleted or changed because of it. Every
write is applied only if the object has not changed since the plan. An object on
which something unread may depend keeps its finalizer, unless you accept that gap
with --accept-gap.

Exit codes: 0 done, and a complete scan found nothing left, 1 a step failed, or
something is left, blocked or not verified, 2 no answer, 3 an incomplete scan with
--strict, 4 not confirmed, 130 interrupted.`,
		Example: cli.Examples(`
# Preview a pass
kubectl gc collect --dry-run

# Preview it, and ask the API server whether it would accept each step
kubectl gc collect --dry-run=server

# Run it, after a preview and a confirmation
kubectl gc collect

# Run exactly what a preview showed, without a terminal
kubectl gc collect --confirm 5f2a9c41d07e9b12

# Proceed although the metrics API is down
kubectl gc collect --accept-gap metrics.k8s.io

# Only objects whose owner was replaced by another of the same name, in one namespace
kubectl gc collect -n shop --rule replaced-owner

# Plan now, have the plan reviewed, run it later
kubectl gc collect --dry-run --plan-out plan.json
kubectl gc collect --plan plan.json`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.options.Complete(cmd, args); err != nil {
				return err
			}
			if err := f.validate(); err != nil {
				return err
			}
			return f.run(cmd.Context())
		},
	}
	f.options.AddFlags(cmd)
	flags := cmd.Flags()
	f.gaps.AddFlags(flags)
	flags.StringSliceVar(&f.rules, "rule", nil, "start only from objects flagged by these audit rules: "+strings.Join(audit.IDs(), ", "))
	flags.StringVar(&f.planOut, "plan-out", "", "save the plan to this file; with --dry-run, do nothing else")
	flags.StringVar(&f.planFile, "plan", "", "carry out this saved plan; steps whose objects changed since are refused")
	cli.CompleteFlag(cmd, "rule", cli.CompleteSome(cli.RuleSummaries()...))
	f.options.Scan.CompleteFlags(cmd)
	return cmd
}

func (f *collectFlags) validate() error {
	switch {
	case f.planFile != "" && f.options.Scan.From != "":
		return cli.Usagef("--plan cannot be combined with --from: a plan runs against a cluster")
	case f.planFile != "" && (len(f.rules) > 0 || f.planOut != ""):
		return cli.Usagef("--plan cannot be combined with --rule or --plan-out")
	}
	if err := audit.Check(f.rules); err != nil {
		return &cli.UsageError{Err: err}
	}
	return f.gaps.Validate()
}

func (f *collectFlags) run(ctx context.Context) error {
	var saved *plan.Plan
	if f.planFile != "" {
		var err error
		if saved, err = f.loadPlan(); err != nil {
			return err
		}
	}
	a := &cli.Operation{
		Options: f.options, Saved: saved, Replan: f.planPass, AcceptedGaps: f.gaps.Accepted(),
		Scope: f.options.Scan.Everything(scan.Scope{Running: true}), // or all of one namespace, and whatever may depend on it
	}
	a.PlanAccepting = func(accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
		return f.planPassAccepting(a.Graph, accepted)
	}
	if err := a.Prepare(ctx, f.planPass); err != nil {
		return err
	}
	if a.Cluster != nil && (f.planOut != "" || saved != nil && saved.ClusterUID != "") {
		var err error
		if a.ClusterUID, err = read.UID(ctx, a.Cluster); err != nil && ctx.Err() == nil {
			fmt.Fprintf(f.options.Scan.Err, "warning: cannot identify this cluster, so the plan is neither checked against it nor bound to it: %s\n", escape.Short(err.Error(), 2000))
		}
	}
	if saved != nil {
		if err := cli.CheckPlanCluster(saved, a.ClusterUID); err != nil {
			return err
		}
	}
	if f.planOut != "" {
		record := *a.Plan
		record.ClusterUID = string(a.ClusterUID)
		if err := cli.ReplaceFile(f.planOut, cli.PrivateFile, cli.EscapeJSON(record.Save)); err != nil {
			return fmt.Errorf("write plan: %w", err)
		}
	}
	return a.Run(ctx)
}

// planPass makes the plan of a pass over what was seen.
func (f *collectFlags) planPass(_ context.Context, p *cli.Planned) (err error) {
	p.Plan, err = f.planPassAccepting(p.Graph, f.gaps.Accepted())
	return err
}

func (f *collectFlags) planPassAccepting(g *graph.Graph, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	o := plan.Options{Mode: plan.Collect, Bounds: simulate.Bounds{Within: f.options.Scan.InScope(g)}, Accepted: accepted}
	if len(f.rules) > 0 {
		roots, err := f.doomed(g)
		if err != nil {
			return nil, err
		}
		o.Bounds.Roots = roots
	}
	return plan.New(g, o), nil
}

// doomed are the objects of which the chosen rules have something to say.
func (f *collectFlags) doomed(g *graph.Graph) (func(graph.Node) bool, error) {
	// No deletion is too young for a pass, nor one that by our clock has yet to come.
	report, err := audit.Run(g, audit.Options{Rules: f.rules, Namespace: f.options.Scan.Config.Namespace(), StuckAfter: math.MinInt64})
	if err != nil {
		return nil, err
	}
	of := map[types.UID]bool{}
	for _, finding := range report.Findings {
		of[finding.Object.UID] = true
		for _, member := range finding.Members {
			of[member.UID] = true
		}
	}
	return func(n graph.Node) bool { return of[g.UID(n)] }, nil
}

func (f *collectFlags) loadPlan() (*plan.Plan, error) {
	file, err := os.Open(f.planFile)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	defer file.Close()
	saved, err := plan.Load(file)
	if err != nil {
		return nil, fmt.Errorf("read plan %s: %w", f.planFile, err)
	}
	if saved.Mode != plan.Collect {
		return nil, cli.Usagef("%s is a plan for %s, not for collect", cli.Quote(f.planFile), cli.Quote(string(saved.Mode)))
	}
	return saved, nil
}
