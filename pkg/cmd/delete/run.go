package delete

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// planDeletion makes the plan of a deletion: by the cluster's own collector, or by us.
// Where claims go, it first asks which Pods use them.
func (f *deleteFlags) planDeletion(ctx context.Context, p *cli.PlannedScan, targets []graph.Node) error {
	p.Plan = f.buildPlan(p.Graph, targets, f.gaps.Accepted())
	guarded := p.Plan.Guarded()
	if p.Cluster == nil || len(guarded) == 0 {
		return nil
	}
	seen, err := p.Cluster.MarkClaims(ctx, p.Snapshot, guarded)
	if err != nil {
		return err
	}
	p.Snapshot, p.Graph = seen, graph.New(seen) // of the same objects in the same order
	p.Plan = f.buildPlan(p.Graph, targets, f.gaps.Accepted())
	return nil
}

func (f *deleteFlags) buildPlan(g *graph.Graph, targets []graph.Node, accepted snapshot.AcceptedGaps) *plan.Plan {
	hand := collector.ActorControllerManager
	if f.clientSide {
		hand = collector.ActorClient
	}
	deletes := make([]simulate.Deletion, len(targets))
	for i, n := range targets {
		deletes[i] = simulate.Deletion{Node: n, Policy: f.policy()}
	}
	o := plan.Deletion(hand, deletes...)
	o.Accepted = accepted
	return plan.New(g, o)
}

// defaults names the types of targets whose own default is another than the policy
// that is sent (docs/gc-semantics.md#finalizers-after-a-delete).
func (f *deleteFlags) defaults(g *graph.Graph, targets []graph.Node) []string {
	var out []string
	for _, n := range targets {
		o := g.Object(n)
		of := simulate.DefaultPolicy(o.Identity)
		if of == f.policy() || of != metav1.DeletePropagationOrphan {
			continue
		}
		said := fmt.Sprintf("By default, deleting a %s orphans its dependents; this deletion uses --cascade=%s.", escape.Short(o.Kind, 200), f.cascade)
		if !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	return out
}

// perform deletes what was asked for, and watches the cluster's own collector do
// the rest; or does all of it.
func (f *deleteFlags) perform(a *cli.Operation) func(context.Context, *cluster.Writer, execute.BackupWriter, execute.Options) *execute.Report {
	return func(ctx context.Context, w *cluster.Writer, k execute.BackupWriter, o execute.Options) *execute.Report {
		o.RequestedOnly = !f.clientSide
		if o.RequestedOnly && f.wait && !o.DryRun {
			o.Watcher = w
			dog := cli.StartWatchdog(ctx, a.ExplainStall)
			defer dog.Stop()
			tell := o.OnEvent
			o.OnEvent = func(e event.Event) {
				dog.Observe(e)
				tell(e)
			}
		}
		return execute.Run(ctx, a.Current.Plan, a.Current.Graph, w, k, o)
	}
}

// planRemaining makes the plan of what the collector has yet to do with the objects that the
// plan touches. Where that is this run, it has yet to deal with what came to depend on
// them meanwhile, too; the cluster's own will come to that by itself.
func (f *deleteFlags) planRemaining(a *cli.Operation) cli.PlanFunc {
	return func(_ context.Context, p *cli.PlannedScan) error {
		of, about := graph.NewSet(p.Graph), graph.NewSet(p.Graph)
		var gone []graph.Node
		for _, o := range a.Current.Plan.Outcomes {
			n := p.Graph.Find(o.Object.UID)
			of.Add(n)
			if o.State != plan.Changed {
				gone = append(gone, n)
			}
		}
		if f.clientSide {
			p.Graph.Below(about, graph.Unlimited, gone...)
		}
		for _, n := range of.Nodes() {
			about.Add(n)
		}
		p.Plan = plan.New(p.Graph, plan.Options{Mode: plan.Collect, Hand: f.actor(), Bounds: simulate.Bounds{Roots: about.Has}, Accepted: f.gaps.Accepted()})
		p.Plan.Steps = slices.DeleteFunc(p.Plan.Steps, func(s plan.Step) bool { return !about.Has(p.Graph.Find(s.Object.UID)) })
		p.Plan.Blocked = slices.DeleteFunc(p.Plan.Blocked, func(b plan.Blocked) bool { return !of.Has(p.Graph.Find(b.Object.UID)) })
		return nil
	}
}

// actor is who does the work of the collector.
func (f *deleteFlags) actor() collector.Actor {
	if f.clientSide {
		return collector.ActorClient
	}
	return collector.ActorControllerManager
}
