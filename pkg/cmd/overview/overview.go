// Package overview is the command kubectl gc without a further word.
package overview

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/overviewview"
	"github.com/kubectl-gc/kubectl-gc/pkg/overview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

type overviewCommand struct {
	scan   *cli.ScanOptions
	output *cli.OutputFlags
}

// New returns the root command, which shows the overview and has no other commands yet.
func New(s *cli.ScanOptions) *cobra.Command {
	c := &overviewCommand{scan: s, output: cli.NewOutputFlags("text")}
	cmd := &cobra.Command{
		Use:   plugin.File(),
		Short: "Explain, preview, repair and undo what the Kubernetes garbage collector does",
		Long: `Explain, preview, repair and undo what the Kubernetes garbage collector does.

Without a command, show on one screen what the garbage collector will delete,
which deletions are stuck and what holds them, which owner references are
broken, what could not be read, and what to run next. This scans the cluster
once and changes nothing.

Exit codes: 0 whatever it finds; 2 error: wrong usage, or the cluster cannot be
read; 3 incomplete scan with --strict.

collect, delete, repair, restore and finalizer remove change the cluster, after
a preview and a confirmation; controller changes it without. doctor --canary
creates two ConfigMaps and deletes them again. Everything else only reads.`,
		Example: cli.Examples(`
# Is anything wrong with deletion in this cluster?
kubectl gc

# What is stuck in Terminating, and what holds it?
kubectl gc stuck

# What happens to this object, and why?
kubectl gc why secret/restored -n shop

# What goes with this Deployment? Preview that, then delete it
kubectl gc delete deployment/web -n shop --dry-run
kubectl gc delete deployment/web -n shop

# Which backups are there to undo what was done?
kubectl gc restore

# What will the garbage collector delete next? Fix bad references instead
kubectl gc audit
kubectl gc repair --dry-run

# Who owns a Deployment, and what depends on it?
kubectl gc tree deployment/web

# Does the cluster's own garbage collector work? If not, do its work
kubectl gc doctor
kubectl gc collect --dry-run

# Scan now, and analyze later without the cluster
kubectl gc snapshot -o cluster.json.gz
kubectl gc audit --from cluster.json.gz`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	s.AddReadingFlags(cmd)
	c.output.AddFlags(cmd)
	return cmd
}

func (c *overviewCommand) run(ctx context.Context) error {
	if err := cmp.Or(c.scan.Validate(), c.output.Complete(c.scan.Streams)); err != nil {
		return err
	}
	seen, live, err := c.scan.Scan(ctx, c.scan.Everything(scan.Scope{}))
	if err != nil {
		return err
	}
	options := audit.Options{Namespace: c.scan.Config.Namespace(), StuckAfter: audit.DefaultStuckAfter}
	judge := collector.NewJudge(graph.New(seen))
	found, err := audit.RunWithDeletions(judge, options)
	if err != nil {
		return err
	}
	v := overview.New(judge.Graph(), found, options)
	if live != nil {
		v.Cluster.Context, v.Cluster.Server, _ = c.scan.ContextAndServer() // the scan has read the kubeconfig
		v.Manager = reason.StoreOptional(c.manager(ctx, live))
	} else {
		v.Cluster.File = c.scan.FileName()
	}
	if err := c.write(v); err != nil {
		return fmt.Errorf("write the overview: %w", err)
	}
	if c.output.Structured() {
		c.scan.WarnOfGaps(seen)
	} else {
		c.scan.WarnOfVersion("", seen.Server)
	}
	return c.scan.StrictExit(seen)
}

// patience is how long the overview waits for the lease of kube-controller-manager.
const patience = 2 * time.Second

// manager returns whether kube-controller-manager runs.
func (c *overviewCommand) manager(ctx context.Context, live *client.Client) reason.Reason {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	leader, err := health.ReadLeader(ctx, live)
	return overview.Manager(leader, c.scan.Now(), err)
}

func (c *overviewCommand) write(v *overview.Overview) error {
	if !c.output.Structured() {
		return overviewview.Write(c.scan.Text(), v, c.scan.ScanTitle(v.Cluster.Version), c.scan.Suggest, c.scan.Palette())
	}
	v.EditCommands(func(words []string) []string {
		words, _ = c.scan.SuggestWords(plugin.Line(words...)...)
		return words
	})
	return c.output.Write("Overview", v, v.Objects()...)
}
