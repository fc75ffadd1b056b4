package cli

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// foresee makes the plan of a deletion: by the cluster's own collector, or by us.
// Where claims go, it first asks which Pods use them.
func (f *deleteFlags) foresee(ctx context.Context, p *planned, targets []graph.Node) error {
	p.plan = f.making(p.graph, targets, f.accepted())
	guarded := p.plan.Guarded()
	if p.live == nil || len(guarded) == 0 {
		return nil
	}
	seen, err := p.live.MarkClaims(ctx, p.seen, guarded)
	if err != nil {
		return err
	}
	p.seen, p.graph = seen, graph.New(seen) // of the same objects in the same order
	p.plan = f.making(p.graph, targets, f.accepted())
	return nil
}

func (f *deleteFlags) making(g *graph.Graph, targets []graph.Node, accepted snapshot.AcceptedGaps) *plan.Plan {
	hand := collector.Theirs
	if f.clientSide {
		hand = collector.Ours
	}
	deletes := make([]collector.Deletion, len(targets))
	for i, n := range targets {
		deletes[i] = collector.Deletion{Node: n, Policy: f.policy()}
	}
	o := plan.Deletion(hand, deletes...)
	o.Accepted = accepted
	return plan.Make(g, o)
}

// defaults names the types of targets whose own default is another than the policy
// that is sent (docs/gc-semantics.md#finalizers-after-a-delete).
func (f *deleteFlags) defaults(g *graph.Graph, targets []graph.Node) []string {
	var out []string
	for _, n := range targets {
		o := g.Object(n)
		of := collector.DefaultPolicy(o.Identity)
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
func (f *deleteFlags) perform(a *act) func(context.Context, *cluster.Writer, execute.Keeper, execute.Options) *execute.Report {
	return func(ctx context.Context, w *cluster.Writer, k execute.Keeper, o execute.Options) *execute.Report {
		o.Asked = !f.clientSide
		if o.Asked && f.wait && !o.DryRun {
			o.Others = w
			dog := watch(ctx, a.explain)
			defer dog.stop()
			tell := o.Tell
			o.Tell = func(e event.Event) {
				dog.hear(e)
				tell(e)
			}
		}
		return execute.Run(ctx, a.plan, a.graph, w, k, o)
	}
}

// left makes the plan of what the collector has yet to do with the objects that the
// plan touches. Where that is this run, it has yet to deal with what came to depend on
// them meanwhile, too; the cluster's own will come to that by itself.
func (f *deleteFlags) left(a *act) planFunc {
	return func(_ context.Context, p *planned) error {
		of, about := graph.NewSet(p.graph), graph.NewSet(p.graph)
		var gone []graph.Node
		for _, o := range a.plan.Outcomes {
			n := p.graph.Find(o.Object.UID)
			of.Add(n)
			if o.State != plan.Changed {
				gone = append(gone, n)
			}
		}
		if f.clientSide {
			p.graph.Below(about, graph.Unlimited, gone...)
		}
		for _, n := range of.Nodes() {
			about.Add(n)
		}
		p.plan = plan.Make(p.graph, plan.Options{Mode: plan.Collect, Hand: f.hand(), Bounds: collector.Bounds{Roots: about.Has}, Accepted: f.accepted()})
		p.plan.Steps = slices.DeleteFunc(p.plan.Steps, func(s plan.Step) bool { return !about.Has(p.graph.Find(s.Object.UID)) })
		p.plan.Blocked = slices.DeleteFunc(p.plan.Blocked, func(b plan.Blocked) bool { return !of.Has(p.graph.Find(b.Object.UID)) })
		return nil
	}
}

// hand is who does the work of the collector.
func (f *deleteFlags) hand() collector.Hand {
	if f.clientSide {
		return collector.Ours
	}
	return collector.Theirs
}
