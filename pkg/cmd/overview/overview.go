// Package overview is the command kubectl gc without a further word.
package overview

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
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/overviewview"
	"github.com/kubectl-gc/kubectl-gc/pkg/overview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

type overviewCommand struct {
	scan     *cli.ScanOptions
	output   *cli.OutputFlags
	contexts *cli.Contexts
}

// New returns the root command, which shows the overview and has no other commands yet.
func New(s *cli.ScanOptions) *cobra.Command {
	c := &overviewCommand{scan: s, output: cli.NewOutputFlags("text"), contexts: cli.NewContexts(s)}
	cmd := &cobra.Command{
		Use:   plugin.File(),
		Short: "Explain, preview, repair and undo what the Kubernetes garbage collector does",
		Long: `Explain, preview, repair and undo what the Kubernetes garbage collector does.

Without a command, show on one screen what the garbage collector will delete,
which deletions are stuck and what holds them, which owner references are
broken, what could not be read, and what to run next. This scans the cluster
once and changes nothing.

Exit codes: 0 whatever it finds; 2 error: wrong usage, or the cluster cannot be
read; 3 incomplete scan with --strict. With --contexts, a cluster that does not
answer makes the scan incomplete.

collect, delete, repair, restore and finalizer remove change the cluster, after
a preview and a confirmation; controller changes it without. doctor --canary
creates two ConfigMaps and deletes them again. Everything else only reads.`,
		Example: cli.Examples(`
# Is anything wrong with deletion in this cluster?
kubectl gc

# And in all clusters of the kubeconfig?
kubectl gc --contexts all

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
	c.contexts.AddFlag(cmd)
	return cmd
}

func (c *overviewCommand) run(ctx context.Context) error {
	if err := cmp.Or(c.scan.Validate(), c.output.Complete(&c.scan.Streams)); err != nil {
		return err
	}
	scans, err := c.contexts.Scans()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	overviews := map[string]*overview.Overview{} // by context
	clusters, err := c.contexts.Audit(ctx, scans, func(ctx context.Context, one cli.ContextScan) (audit.Cluster, error) {
		v, err := c.ask(ctx, one.Scan)
		mu.Lock()
		defer mu.Unlock()
		overviews[one.Name] = v
		return audit.Cluster{Name: one.Name, Answered: true}, err
	})
	if err != nil {
		return err
	}
	complete, shown := true, false
	for i, one := range scans {
		if !clusters[i].Answered {
			c.scan.WarnOfCluster(clusters[i])
			complete = false
			continue
		}
		v := overviews[one.Name]
		if shown && !c.output.Structured() {
			fmt.Fprintln(c.scan.Text())
		}
		shown, complete = true, complete && len(v.Gaps) == 0
		if err := c.write(one.Scan, v); err != nil {
			return fmt.Errorf("write the overview: %w", err)
		}
		if c.output.Structured() {
			one.Scan.WarnOfClusterGaps(one.Name, v.Gaps, v.Types)
		}
		one.Scan.WarnOfVersion("", v.Cluster.Version)
	}
	if c.scan.Strict && !complete {
		return cli.ExitError(cli.ExitIncomplete)
	}
	return nil
}

// ask scans a cluster, or reads a file.
func (c *overviewCommand) ask(ctx context.Context, s *cli.ScanOptions) (*overview.Overview, error) {
	seen, live, err := s.Scan(ctx, s.Everything(scan.Scope{}))
	if err != nil {
		return nil, err
	}
	options := audit.Filter{Namespace: s.Config.Namespace(), StuckAfter: terminating.DefaultStuckAfter}
	judge := collector.NewJudge(graph.New(seen))
	found, err := audit.RunWithDeletions(judge, options)
	if err != nil {
		return nil, err
	}
	v := overview.New(judge.Graph(), found, options)
	if live == nil {
		v.Cluster.File = s.FileName()
		return v, nil
	}
	v.Cluster.Context, v.Cluster.Server, _ = s.ContextAndServer() // the scan has read the kubeconfig
	v.Manager = manager(ctx, live, s.Now())
	return v, nil
}

// patience is how long the overview waits for the lease of kube-controller-manager.
const patience = 2 * time.Second

// manager returns whether kube-controller-manager runs.
func manager(ctx context.Context, live *client.Client, now time.Time) *reason.Reason {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	leader, err := health.ReadLeader(ctx, live)
	return overview.Manager(leader, now, err)
}

func (c *overviewCommand) write(s *cli.ScanOptions, v *overview.Overview) error {
	if !c.output.Structured() {
		return overviewview.Write(s.Text(), v, s.ScanTitle(v.Cluster.Version), s.Suggest, s.Palette())
	}
	v.EditCommands(func(words []string) []string {
		words, _ = s.SuggestWords(plugin.Line(words...)...)
		return words
	})
	return c.output.Write("Overview", v, v.Objects()...)
}
