// Package delete is the command kubectl gc delete.
package delete

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/manifest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

type deleteCommand struct {
	options       *cli.MutatingOptions
	selector      string
	files         manifest.Files
	all           bool
	ignoreMissing bool
	cascade       string
	clientSide    bool
	grace         gracePeriod
	wait          bool

	selection cli.Selection
	manifests []object.Identity // of the files
	marks     sync.Map          // of the requested objects, by UID: a read.Marks
}

// cascades are the values of --cascade.
var cascades = cli.Choices{
	"background\tdelete the object at once, its dependents after it",
	"foreground\tdelete its dependents first, the object last",
	"orphan\tkeep its dependents, without their reference to it",
}

// New returns the command delete.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &deleteCommand{options: cli.NewMutatingOptions("delete", scan)}
	cmd := &cobra.Command{
		Use:   "delete (TYPE/NAME ... | TYPE -l SELECTOR | -f FILE)",
		Short: "Delete objects, after a preview of everything that goes with them",
		Long: `Delete objects, after a preview of everything that goes with them.

First it shows which objects go, which stay and because of which other owner,
which references are removed, what blocks the deletion, and what it cannot
read. Then it asks, backs up what will go, and deletes. The cluster's garbage
collector does the rest, and this command waits for it; in a cluster without
one, --client-side does its work.

--cascade decides what happens to dependents. ` + cli.CommandName + ` delete always sends a
policy, as kubectl delete does:
  background  delete the object at once, its dependents after it (the default)
  foreground  delete its dependents first, the object last
  orphan      keep its dependents, without their reference to it

--grace-period, --now and --force work as in kubectl delete. They apply only to
Pods that you name: Pods that go with their owner or namespace keep their own
grace period. --force removes a Pod, for example of a dead node, while its
containers may still run.

Exit codes: 0 done, and a complete scan found nothing left; 1 a step failed, or
something is left, blocked or not verified; 2 error: wrong usage, nothing to
delete, or the cluster cannot be read; 3 incomplete scan with --strict; 4 not
confirmed; 130 interrupted.`,
		Example: cli.Examples(`
# Preview the deletion of a Deployment
kubectl gc delete deployment/web -n shop --dry-run

# Preview it, and ask the API server whether it would accept each step
kubectl gc delete deployment/web -n shop --dry-run=server

# Delete it, dependents first, and wait until everything is gone
kubectl gc delete deployment/web -n shop --cascade=foreground

# Delete it and keep its Pods
kubectl gc delete deployment/web -n shop --cascade=orphan

# Pods on a dead node, whose kubelet never confirms that they have stopped
kubectl gc delete pods -l app=web -n shop --force

# Every Job of an import, in all namespaces
kubectl gc delete jobs -l task=import -A

# A CustomResourceDefinition takes every object of its kind: preview first
kubectl gc delete crd/redises.cache.example.com --dry-run

# Run exactly what a preview showed, without a terminal
kubectl gc delete deployment/web -n shop --confirm 5f2a9c41d07e9b12

# In a cluster without a garbage collector
kubectl gc delete deployment/web -n shop --client-side`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: scan.CompleteTargets,
		RunE:              c.run,
	}
	c.options.AddFlags(cmd)
	flags := cmd.Flags()
	c.options.AddAcceptGapFlag(flags)
	c.options.AddMaxDeletesFlag(flags)
	c.options.AddInUseFlag(flags)
	c.options.AddAskFlag(flags)
	flags.StringVarP(&c.selector, "selector", "l", "", "Delete the objects of a type that have these labels.")
	flags.BoolVar(&c.all, "all", false, "Delete all objects of a type.")
	flags.StringSliceVarP(&c.files.Names, "filename", "f", nil, "Delete the objects in these files, folders or URLs; - is standard input.")
	flags.BoolVarP(&c.files.Recursive, "recursive", "R", false, "Read the folders of -f recursively.")
	cli.CompleteFlag(cmd, "filename", cli.CompleteDocuments)
	flags.BoolVar(&c.ignoreMissing, "ignore-not-found", false, "Treat objects that do not exist as deleted.")
	flags.StringVar(&c.cascade, "cascade", "background", "What happens to dependents: background, foreground or orphan.")
	flags.Lookup("cascade").NoOptDefVal = "background"
	flags.BoolVar(&c.clientSide, "client-side", false, "Do the garbage collector's work, in a cluster without a working one.")
	flags.BoolVar(&c.wait, "wait", true, "Wait until the garbage collector has deleted everything.")
	c.grace.addFlags(cmd)
	cli.CompleteFlag(cmd, "wait", cli.CompleteBool)
	cli.CompleteFlag(cmd, "cascade", cli.CompleteOne(cascades...))
	return cmd
}

func (c *deleteCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.options.Complete(cmd, args); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := c.selectTargets(ctx, args); err != nil {
		return err
	}
	scope, err := c.selection.CascadeScope(ctx, c.options.Scan)
	if err := cmp.Or(err, c.requireObjects()); err != nil {
		return err
	}
	if len(c.manifests) > 0 { // each has a namespace of its own
		scope.Namespaces, scope.Widen = nil, scan.WidenKinds
	}
	job := cli.Job{
		Options: c.options, Scope: scope, Plan: c.plan, Remaining: c.planRemaining,
		LeavesRestToCollector: !c.clientSide, SkipVerification: !c.clientSide && !c.wait,
	}
	seen, err := cli.Scan(ctx, job)
	if err != nil {
		return err
	}
	targets, err := c.findTargets(seen.Graph(), c.ignoreMissing)
	if err != nil {
		return err
	}
	notes := c.defaultPolicyNotes(seen.Graph(), targets)
	now, err := cli.Plan(ctx, job, seen)
	if err != nil {
		return err
	}
	if err := cli.AddImpacts(ctx, now); err != nil {
		return err
	}
	notes = append(notes, c.managerNotes(now.Plan)...)
	if note := c.grace.note(now.Plan); note != "" {
		notes = append(notes, note)
	}
	if warning := c.grace.warning(now.Plan); warning != "" {
		fmt.Fprintln(c.options.Scan.Err, warning)
	}
	return cli.Run(ctx, job, now, append(notes, cli.IncompleteNotes(now.Plan)...)...)
}

// plan plans the deletion of the selected objects that exist.
func (c *deleteCommand) plan(ctx context.Context, seen cli.Scanned, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	targets, err := c.findTargets(seen.Graph(), true)
	if err != nil {
		return nil, err
	}
	deletes := make([]simulate.DeleteRequest, len(targets))
	for i, n := range targets {
		deletes[i] = simulate.DeleteRequest{Node: n, Policy: c.policy(), GraceSeconds: c.grace.requested()}
	}
	p := plan.New(seen.Judge, plan.DeletePurpose(c.predictor().Accepting(accepted), deletes...))
	return p, c.addManagers(ctx, seen, p)
}

// predictor returns the predictor of whoever does the work of the garbage collector.
func (c *deleteCommand) predictor() simulate.Predictor {
	if c.clientSide {
		return simulate.Own
	}
	return simulate.Cluster
}

// planRemaining plans what the garbage collector still has to do with the objects of the
// plan. With --client-side that includes new dependents of them; otherwise the cluster's own
// garbage collector takes care of these.
func (c *deleteCommand) planRemaining(_ context.Context, done *plan.Plan, after cli.Scanned) (*plan.Plan, error) {
	return plan.Remaining(done, after.Judge, c.predictor().Accepting(c.options.AcceptedGaps), c.clientSide), nil
}

// policy returns the deletion policy of --cascade.
func (c *deleteCommand) policy() metav1.DeletionPropagation {
	switch c.cascade {
	case "foreground":
		return metav1.DeletePropagationForeground
	case "orphan":
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}

// defaultPolicyNotes names the types whose default policy is another than the one that is
// sent (docs/gc-semantics.md#finalizers-after-a-delete).
func (c *deleteCommand) defaultPolicyNotes(g *graph.Graph, targets []graph.Node) []string {
	var out []string
	uses := "This deletion uses"
	if c.policy() == metav1.DeletePropagationBackground {
		uses = "Like kubectl, this deletion uses"
	}
	for _, n := range targets {
		o := g.Object(n)
		policy := simulate.DefaultPolicy(o.Identity)
		if policy == c.policy() || policy != metav1.DeletePropagationOrphan {
			continue
		}
		note := fmt.Sprintf("The API's own default for a %s is to orphan its dependents. %s --cascade=%s.", escape.Short(o.Kind, 200), uses, c.cascade)
		if !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	return out
}
