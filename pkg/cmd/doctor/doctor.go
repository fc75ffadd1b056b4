// Package doctor is the command kubectl gc doctor.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/doctor"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/doctorview"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

type doctorCommand struct {
	scan               *cli.ScanOptions
	settle, stuckAfter time.Duration
	canary             string // namespace
	output             *cli.OutputFlags
}

// New returns the command doctor.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &doctorCommand{scan: scan, output: cli.NewOutputFlags("table")}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether the cluster's own garbage collector works",
		Long: `Check whether the cluster's own garbage collector can work, and whether it
does: whether the API server can list what it serves and honors deletion
policies, whether kube-controller-manager runs, and whether it collects
garbage.

It changes nothing, unless --canary names a namespace: there it creates a
ConfigMap and its owner, deletes the owner, and measures how long the ConfigMap
stays. It sends dry runs, which store nothing: the deletion of one ConfigMap,
kube-root-ca.crt, and writes that admission webhooks and policies look at. What
you are not allowed to read is "unknown", never "ok".

Exit codes: 0 no check failed; 1 a check failed, or something is left of
--canary; 2 error: wrong usage, or the cluster cannot be read.`,
		Example: cli.Examples(`
# Objects stay: does the garbage collector work?
kubectl gc doctor

# See it work, on two ConfigMaps in namespace default
kubectl gc doctor --canary default

# Wait longer for a slow one
kubectl gc doctor --settle 2m

# For a program
kubectl gc doctor -o jsonpath='{.state}'`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&c.settle, "settle", 30*time.Second, "How long the garbage collector has to act on what the scan found.")
	flags.DurationVar(&c.stuckAfter, "stuck-after", terminating.DefaultStuckAfter, "Report deletions that take longer than this.")
	flags.StringVar(&c.canary, "canary", "", "Namespace for a test: create a ConfigMap and its owner, and delete the owner.")
	c.output.AddFlags(cmd)
	cli.CompleteFlag(cmd, "canary", scan.CompleteNamespaces)
	return cmd
}

func (c *doctorCommand) run(ctx context.Context) error {
	if err := cmp.Or(c.scan.Validate(), cli.CheckNamespaceName("canary", c.canary), c.output.Complete(&c.scan.Streams)); err != nil {
		return err
	}
	c.scan.NeedsCluster = true
	live, err := c.scan.Connect()
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	leader := start(func() (reason.Leader, error) { return health.WatchLeader(watching, live) })
	seen, _, err := c.scan.Scan(ctx, c.scan.Everything(scan.Scope{Labels: true}))
	if err != nil {
		return err
	}
	if err := c.scan.RequireNamespace(ctx, c.canary, seen, live); err != nil {
		return err
	}
	bird, err := c.prepareCanary(ctx, live, seen)
	if err != nil {
		return err
	}
	g := graph.New(seen)
	report, err := audit.Run(collector.NewJudge(g), audit.Filter{Namespace: c.scan.Config.Namespace(), StuckAfter: c.stuckAfter})
	if err != nil {
		return err
	}
	foreground := start(func() (bool, error) { return health.HonoursForegroundDeletion(ctx, live, seen) })
	elsewhere := start(func() ([]object.Identity, error) {
		return health.ObjectsWithOwnersElsewhere(ctx, live, c.scan.Config.Namespace())
	})
	admission := start(func() (reason.Admission, error) { return health.Admission(ctx, live, seen), nil })
	var test *doctor.Observed[reason.CanaryTest]
	left := false // of the canary
	if bird != nil && ctx.Err() == nil {
		ended, remains := c.runCanary(ctx, bird)
		test, left = &ended, remains
	}
	backends := health.Backends(ctx, live, seen.Gaps)
	err = c.scan.Settle(ctx, live, g, report, c.settle)
	switch {
	case ctx.Err() != nil && test != nil:
		return c.interrupted(left)
	case err != nil:
		return err
	}
	d := doctor.Diagnose(&doctor.Observations{
		Graph: g, Report: report, StuckAfter: c.stuckAfter, Backends: backends, Admission: admission().Value,
		ForegroundDeletion: foreground(), Leader: leader(), InOtherNamespaces: elsewhere(), Canary: test,
	})
	switch {
	case ctx.Err() != nil && test != nil:
		return c.interrupted(left)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if err := c.write(d); err != nil {
		return fmt.Errorf("write the diagnosis: %w", err)
	}
	c.scan.WarnOfClusterGaps("", seen.Gaps, seen.MonitoredTypes()) // a check says what the version is
	if d.Failed() || left {
		return cli.ExitError(cli.ExitFound)
	}
	return nil
}

// observed returns what an observation has given.
func observed[T any](value T, err error) doctor.Observed[T] {
	if err != nil {
		_, message := client.Classify(err)
		return doctor.Observed[T]{Unknown: redact.Text(message)}
	}
	return doctor.Observed[T]{Value: value}
}

// start starts an observation and returns what waits for its result.
func start[T any](ask func() (T, error)) func() doctor.Observed[T] {
	var out doctor.Observed[T]
	var done sync.WaitGroup
	done.Go(func() { out = observed(ask()) })
	return func() doctor.Observed[T] {
		done.Wait()
		return out
	}
}

func (c *doctorCommand) write(d *doctor.Diagnosis) error {
	for i, s := range d.Suggestions {
		d.Suggestions[i].Sentence, d.Suggestions[i].Command = c.scan.SuggestSentence(s.Sentence, s.Command)
	}
	if c.output.Structured() {
		return c.output.Write("Diagnosis", d)
	}
	return doctorview.Write(c.scan.Text(), d, c.scan.Palette(), cli.ShellCommand)
}
