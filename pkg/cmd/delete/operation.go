package delete

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func (c *deleteCommand) Plan(ctx context.Context, p *cli.PlannedScan) error {
	return c.planDeletion(ctx, p, c.ignoreMissing)
}

func (c *deleteCommand) Replan(ctx context.Context, p *cli.PlannedScan) error {
	return c.planDeletion(ctx, p, true)
}

// planDeletion plans the deletion of the selected objects. If it deletes
// PersistentVolumeClaims, it first reads which Pods use them.
func (c *deleteCommand) planDeletion(ctx context.Context, p *cli.PlannedScan, ignoreMissing bool) (err error) {
	if c.targets, err = c.findTargets(p.Graph(), ignoreMissing); err != nil {
		return err
	}
	p.Plan = c.plan(p.Judge, c.options.AcceptedGaps)
	guarded := p.Plan.ProtectedClaimNamespaces()
	if p.Cluster == nil || len(guarded) == 0 {
		return nil
	}
	seen, err := read.MarkClaims(ctx, p.Cluster, p.Snapshot, guarded)
	if err != nil {
		return err
	}
	p.Snapshot, p.Judge = seen, collector.NewJudge(graph.New(seen)) // with the same nodes, so that c.targets stays valid
	p.Plan = c.plan(p.Judge, c.options.AcceptedGaps)
	return nil
}

func (c *deleteCommand) PlanAccepting(p *cli.PlannedScan, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	return c.plan(p.Judge, accepted), nil
}

func (c *deleteCommand) plan(j *collector.Judge, accepted snapshot.AcceptedGaps) *plan.Plan {
	deletes := make([]simulate.Deletion, len(c.targets))
	for i, n := range c.targets {
		deletes[i] = simulate.Deletion{Node: n, Policy: c.policy()}
	}
	o := plan.DeleteOptions(c.actor(), deletes...)
	o.Accepted = accepted
	return plan.New(j, o)
}

// actor returns who does the work of the garbage collector.
func (c *deleteCommand) actor() collector.Actor {
	if c.clientSide {
		return collector.ActorClient
	}
	return collector.ActorControllerManager
}

// Perform deletes the selected objects, and waits for the cluster's garbage collector to
// do the rest. With --client-side it does everything itself.
func (c *deleteCommand) Perform(ctx context.Context, op *cli.Operation, b planrun.BackupWriter, o planrun.Options) *execute.Report {
	w := op.Writer(o)
	o.RequestedOnly = !c.clientSide
	if o.RequestedOnly && c.wait && !o.Common.DryRun {
		o.Watcher = w
		watchdog := cli.StartWatchdog(ctx, op.ExplainStall)
		defer watchdog.Stop()
		onEvent := o.Common.OnEvent
		o.Common.OnEvent = func(e event.Event) {
			watchdog.Observe(e)
			onEvent(e)
		}
	}
	return op.RunPlan(ctx, w, b, o)
}

// PlanRemaining plans what the garbage collector still has to do with the objects of the
// plan. With --client-side that includes new dependents of them; otherwise the cluster's own
// garbage collector takes care of these.
func (c *deleteCommand) PlanRemaining(_ context.Context, done *plan.Plan, p *cli.PlannedScan) error {
	planned, concerned := graph.NewSet(p.Graph()), graph.NewSet(p.Graph())
	var deleted []graph.Node
	for _, o := range done.Outcomes {
		n := p.Graph().Find(o.Object.UID)
		planned.Add(n)
		if o.State != plan.Changed {
			deleted = append(deleted, n)
		}
	}
	if c.clientSide {
		p.Graph().AddDescendants(concerned, graph.Unlimited, deleted...)
	}
	for _, n := range planned.Nodes() {
		concerned.Add(n)
	}
	p.Plan = plan.New(p.Judge, plan.Options{Mode: plan.Collect, Actor: c.actor(), Bounds: simulate.Bounds{Roots: concerned.Has}, Accepted: c.options.AcceptedGaps})
	p.Plan.Steps = slices.DeleteFunc(p.Plan.Steps, func(s plan.Step) bool { return !concerned.Has(p.Graph().Find(s.Object.UID)) })
	p.Plan.Blocked = slices.DeleteFunc(p.Plan.Blocked, func(b plan.Blocked) bool { return !planned.Has(p.Graph().Find(b.Object.UID)) })
	return nil
}
