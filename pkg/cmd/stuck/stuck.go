// Package stuck is the command kubectl gc stuck.
package stuck

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/why"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type stuckCommand struct {
	scan     *cli.ScanOptions
	changed  func(flag string) bool // whether the flag is given
	contexts *cli.Contexts
	selector string
	output   *cli.OutputFlags
	watch    *cli.Watch
}

// New returns the command stuck.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &stuckCommand{scan: scan, output: cli.NewOutputFlags("table", "wide"), contexts: cli.NewContexts(scan)}
	c.watch = cli.NewWatch(scan, c.output)
	cmd := &cobra.Command{
		Use:   "stuck [TYPE/NAME ...]",
		Short: "List what is being deleted, and what holds it",
		Long: `List every object that is being deleted, oldest first, with what holds it and
which controller has to act. With TYPE/NAME, explain the deletions of these
objects, as "` + cli.CommandName + ` why" does, or say that an object is not being deleted.

It looks at the whole cluster unless -n names a namespace. It changes nothing.

--watch answers again every 5 seconds, until you interrupt it. Without a
terminal, or with -o json, it writes a line of JSON when the answer changes.

Exit codes: 0 listed, whatever it found, also if the object of TYPE/NAME does
not exist (any more); 2 error: wrong usage, or the cluster cannot be read;
3 incomplete scan with --strict.`,
		Example: cli.Examples(`
# Everything that is being deleted, and what holds it
kubectl gc stuck

# Why does this namespace not go away?
kubectl gc stuck namespace/legacy

# Deletions in one namespace, as they end
kubectl gc stuck -n shop --watch

# Several clusters at once
kubectl gc stuck --contexts staging,prod`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: scan.CompleteTargets,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	c.changed = flags.Changed
	scan.AddReadingFlags(cmd)
	c.contexts.AddFlag(cmd)
	flags.StringVarP(&c.selector, "selector", "l", "", "List only objects with these labels.")
	c.output.AddFlags(cmd)
	c.watch.AddFlag(cmd)
	return cmd
}

func (c *stuckCommand) run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if err := cli.RefuseFlags(c.changed, "--%s cannot be combined with TYPE/NAME", "selector", "contexts", "watch"); err != nil {
			return err
		}
		return why.ExplainDeletions(ctx, c.scan, c.output, args)
	}
	selector, err := cli.ParseSelector(c.selector)
	if err := cmp.Or(c.scan.Validate(), err, c.watch.Complete("contexts"), c.output.Complete(&c.scan.Streams)); err != nil {
		return err
	}
	options := audit.Filter{Namespace: c.scan.Config.Namespace(), Selector: selector}
	scope := c.scan.Everything(scan.Scope{Labels: selector != nil})
	if c.watch.On {
		return c.watch.Run(ctx, "stuck", func(ctx context.Context) error { return c.answer(ctx, scope, options) })
	}
	return c.answer(ctx, scope, options)
}

// answer lists once what is being deleted.
func (c *stuckCommand) answer(ctx context.Context, scope scan.Scope, options audit.Filter) error {
	scans, err := c.contexts.Scans()
	if err != nil {
		return err
	}
	clusters, err := c.contexts.Audit(ctx, scans, func(ctx context.Context, v cli.ContextScan) (audit.Cluster, error) {
		seen, live, err := v.Scan.Scan(ctx, scope)
		if err == nil && live != nil {
			inScope := func(o *object.Object) bool { return options.Namespace == "" || o.Namespace == options.Namespace }
			seen, err = read.MarkStatuses(ctx, live, seen, inScope)
		}
		if err != nil {
			return audit.Cluster{}, err
		}
		asked := *seen
		asked.Refused = health.Refusals(ctx, live, seen, seen.Endings((*object.Object).Terminating))
		v.Scan.WarnOfWebhooks(asked.Refused)
		out := list(&asked, options)
		out.Name = v.Name
		return out, nil
	})
	if err != nil {
		return err
	}
	return c.show(clusters)
}

// list returns what is being deleted in a scan.
func list(seen *snapshot.Snapshot, o audit.Filter) audit.Cluster {
	return audit.Cluster{
		Answered: true, Server: seen.Server, Types: seen.MonitoredTypes(), Taken: seen.Taken,
		Report: audit.NewReport(seen), Terminating: audit.Terminating(collector.NewJudge(graph.New(seen)), o),
	}
}

// show writes what is being deleted, and warnings.
func (c *stuckCommand) show(clusters []audit.Cluster) error {
	found := audit.JoinTerminating(clusters)
	if err := c.write(clusters, found); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	for _, one := range clusters {
		c.scan.WarnOfCluster(one)
	}
	if !c.output.Structured() && len(found.Objects) > 0 {
		fmt.Fprintln(c.scan.Err, "Explain one object: "+c.scan.ExplainCommand(found.Objects[0].Object, found.Objects[0].Cluster))
	}
	if c.scan.Strict && !found.Complete {
		return cli.ExitError(cli.ExitIncomplete)
	}
	return nil
}

func (c *stuckCommand) write(clusters []audit.Cluster, found *audit.TerminatingReport) error {
	if c.output.Structured() {
		objects := make([]object.Identity, len(found.Objects))
		for i, t := range found.Objects {
			objects[i] = t.Object
		}
		return c.output.Write("TerminatingReport", found, objects...)
	}
	if err := auditreport.TerminatingTable(c.scan.Text(), found, c.output.Format == "wide", c.contexts.Given()); err != nil {
		return err
	}
	if err := auditreport.TerminatingTraces(c.scan.Text(), found); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.scan.Text(), auditreport.TerminatingSummary(found, audit.Join(clusters), cli.TypesOf(clusters)))
	return err
}
