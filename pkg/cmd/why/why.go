// Package why is the command kubectl gc why.
package why

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type whyFlags struct {
	scan   *cli.ScanOptions
	uids   []string
	output *cli.OutputFlags
}

// New returns the command why.
func New(scan *cli.ScanOptions) *cobra.Command {
	f := &whyFlags{scan: scan, output: cli.NewOutputFlags("text", "wide")}
	cmd := &cobra.Command{
		Use:   "why TYPE/NAME ...",
		Short: "Explain what happens to an object, and why",
		Long: `Explain what happens to an object, and why: each owner reference and the state of
its owner, what the garbage collector does next, what it waits for, what is deleted
with the object, and what would change that.

For an object that is being deleted, it shows which finalizers block it, which
controllers remove them as far as known, and the chain of what it waits for. For an
object that is gone, it shows what remains: the cluster's Events, and objects that
reference it as their owner.

It changes nothing. You can paste the commands that it suggests.

Exit codes: 0 answered, 1 an object does not exist and no trace of it remains, 2 no
answer, 3 an incomplete scan with --strict.`,
		Example: cli.Examples(`
# Why is this not deleted? Why was that deleted?
kubectl gc why deployment/web
kubectl gc why pod/worker -n shop

# By UID, as in the garbage collector's logs
kubectl gc why --uid 6ba7b810-9dad-11d1-80b4-00c04fd430c8

# For a program
kubectl gc why secret/token -n shop -o jsonpath='{.answers[0].consequence}'`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: f.scan.CompleteTargets,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	f.scan.AddReadingFlags(cmd)
	flags.StringSliceVar(&f.uids, "uid", nil, "explain the object with this UID")
	f.output.AddFlags(cmd)
	return cmd
}

// selection is what the command line requests to explain.
type selection struct {
	targets   []cli.Target
	uids      []string
	namespace string // empty if unknown
}

func (f *whyFlags) selectTargets(args []string) (*selection, error) {
	if err := f.scan.Validate(); err != nil {
		return nil, err
	}
	sel := &selection{uids: f.uids}
	var err error
	if sel.targets, err = cli.ParseTargets(args); err != nil {
		return nil, err
	}
	switch {
	case len(sel.targets) > 0 && len(f.uids) > 0:
		return nil, cli.Usagef("targets by name cannot be combined with --uid")
	case len(sel.targets) == 0 && len(f.uids) == 0:
		return nil, &cli.UsageError{Err: fmt.Errorf("no object given: use TYPE/NAME, or --uid UID"), Command: cli.CommandName + " why"}
	case slices.ContainsFunc(sel.targets, func(t cli.Target) bool { return t.Name == "" }):
		return nil, cli.WithHint(cli.Usagef("%s is a type: why explains single objects, given as TYPE/NAME", cli.Quote(args[0])), cli.CommandName+" audit checks all objects")
	}
	named := false
	if sel.namespace, named, err = f.scan.Namespace(); err != nil {
		return nil, err
	}
	if len(sel.uids) > 0 && !named {
		sel.namespace = "" // a UID may be anywhere
	}
	return sel, nil
}

func (f *whyFlags) run(ctx context.Context, args []string) error {
	sel, err := f.selectTargets(args)
	if err != nil {
		return err
	}
	f.output.Complete()
	write, err := f.printer()
	if err != nil {
		return err
	}
	taken, live, err := f.scan.Scan(ctx, f.scope(sel))
	if err != nil {
		return err
	}
	judge := collector.NewJudge(graph.New(taken))
	e := &explainer{graph: judge.Graph(), explainer: explain.NewExplainer(judge), live: live}
	answers, err := e.all(ctx, sel)
	if err != nil {
		return err
	}
	if err := write(taken, e.explainer.Explanation(answers)); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	f.scan.WarnOfGaps(taken)
	if err := f.scan.StrictExit(taken); err != nil || !e.unknown {
		return err
	}
	return cli.ExitError(cli.ExitFound)
}

// scope returns the whole cluster, as owners, dependents and blockers may be anywhere. A
// known namespace comes first, for users who may read nothing else.
func (f *whyFlags) scope(sel *selection) cli.ScopeFunc {
	return func(types []snapshot.Type) (scan.Scope, error) {
		var err error
		if sel.targets, err = cli.ResolveTargets(sel.targets, types); err != nil {
			return scan.Scope{}, err
		}
		scope := scan.Scope{Running: true}
		for _, t := range sel.targets {
			if t.Type.Namespaced && f.scan.AllNamespaces {
				return scope, cli.WithHint(cli.Usagef("%s may exist in several namespaces, and why explains one object", cli.Quote(t.String())), "choose its namespace with -n, or the object with --uid")
			}
			if t.Type.Namespaced && sel.namespace == "" {
				continue
			}
			scope.Targets = append(scope.Targets, t.Coordinates(sel.namespace))
		}
		local := !slices.ContainsFunc(sel.targets, func(t cli.Target) bool { return !t.Type.Namespaced })
		if local && sel.namespace != "" {
			scope.Namespaces, scope.Widen = []string{sel.namespace}, scan.WidenAlways
		}
		return scope, nil
	}
}
