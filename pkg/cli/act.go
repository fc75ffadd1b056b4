package cli

import (
	"cmp"
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// act is one plan on its way from the preview to the report.
type act struct {
	*changing
	live  *cluster.Cluster // nil where the look came from a file
	seen  *snapshot.Snapshot
	graph *graph.Graph
	plan  *plan.Plan
	// stale are the steps of a saved plan that hold no more; where there was one,
	// only what nobody changed since is done.
	stale  []plan.Stale
	frozen bool
	notes  []string // what is to be said beside the plan, a line each
	others bool     // the cluster's own collector does all but what was asked for
	// scope and foresee make the plan anew after the run.
	scope   scoped
	foresee func(*graph.Graph) (*plan.Plan, error)
	// perform carries out the plan; nil: as execute.Run does. The Keeper is nil
	// where nothing is saved.
	perform func(context.Context, *cluster.Writer, execute.Keeper, execute.Options) *execute.Report
	// renew makes the plan anew after somebody has read it, and refuses where it is
	// another by then. Nil: each step of the run asks again by itself.
	renew func(context.Context) error
	// after sees what a run left and adds it to the outcome. Nil: lookAgain.
	after func(context.Context, *outcome) error

	progress *progress // of the run under way
}

func (a *act) run(ctx context.Context) error {
	a.warn()
	if err := a.preview(); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	lacks := a.preflight(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case a.dryRun == dryRunClient:
		return a.foretold()
	case a.strict && !a.plan.Complete:
		return refuse(a.Streams, exitIncomplete, "the view is not whole, and --strict: nothing was changed", "")
	case a.dryRun == dryRunServer:
		return a.rehearsed(ctx)
	case len(a.plan.Steps) == 0:
		return a.report(outcome{plan: a.plan, stale: a.stale, blocked: a.plan.Blocked})
	case len(lacks) > 0:
		return a.unsent(lacks)
	}
	if err := a.confirmed(ctx, a.Streams, a.plan); err != nil {
		return err
	}
	if a.asks() && a.renew != nil { // reading takes time
		if err := a.renew(ctx); err != nil {
			return err
		}
	}
	return a.carryOut(ctx)
}

func (a *act) warn() {
	a.warnOfGaps(a.seen)
	if audit.SiblingsAtRisk(a.seen.Server) && len(a.plan.Steps) > 0 {
		fmt.Fprintf(a.Err, "warning: this server is %s: before 1.20 its own collector may take valid dependents of a bad reference's owner along, which is not foretold here\n", quoted(a.seen.Server))
	}
}

// foretold ends a dry run that asks nothing of the server.
func (a *act) foretold() error {
	if a.strict && !a.plan.Complete {
		return status(exitIncomplete)
	}
	return nil
}

// rehearsed sends every step to the server, which does none of them.
func (a *act) rehearsed(ctx context.Context) error {
	o := outcome{plan: a.plan, stale: a.stale, rehearsal: true, blocked: a.plan.Blocked}
	o.done = a.execute(ctx, nil)
	return a.report(o)
}

// carryOut saves, acts, and looks again.
func (a *act) carryOut(ctx context.Context) error {
	o := outcome{plan: a.plan, stale: a.stale}
	acting, cancel := a.within(ctx)
	defer cancel()
	signal.Ignore(syscall.SIGPIPE) // whoever reads may leave: a run is not cut short by that
	keep, err := a.keeper()
	if err != nil {
		return err
	}
	if keep != nil {
		o.backup = keep.folder.Path()
	}
	begun := a.Now()
	o.done = a.execute(acting, keep)
	o.took = a.Now().Sub(begun)
	if err := keep.close(!o.done.Interrupted, a.Now()); err != nil {
		o.unclosed = true
		fmt.Fprintf(a.Err, "warning: close the backup: %s\n", escape.Short(err.Error(), 2000))
	}
	o.timedOut = ctx.Err() == nil && o.interrupted()
	if ctx.Err() == nil {
		look := a.lookAgain
		if a.after != nil {
			look = a.after
		}
		if err = look(ctx, &o); err != nil {
			fmt.Fprintf(a.Err, "warning: what is left could not be seen: %s\n", escape.Short(err.Error(), 2000))
		}
	}
	return a.report(o)
}

func (a *act) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.patience == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.patience)
}

// execute carries out the plan and tells of it.
func (a *act) execute(ctx context.Context, keep *keeper) *execute.Report {
	a.progress = a.progressOf(a.plan)
	defer a.progress.clear()
	o := execute.Options{
		Concurrency: cmp.Or(a.writers, a.concurrency), Frozen: a.frozen, DryRun: a.dryRun == dryRunServer,
		Tell: a.telling(keep),
	}
	var saving execute.Keeper
	if keep != nil {
		saving = keep
	}
	writer := a.live.Writer(a.seen, o.DryRun)
	if a.perform != nil {
		return a.perform(ctx, writer, saving, o)
	}
	return execute.Run(ctx, a.plan, a.graph, writer, saving, o)
}

// lookAgain makes the plan anew, of what is there now, and names what hangs: by
// that plan, and of what this run has deleted.
func (a *act) lookAgain(ctx context.Context, o *outcome) error {
	o.blocked = a.plan.Blocked
	seen, _, err := a.look(ctx, a.scope)
	if err != nil {
		return err
	}
	g := graph.New(seen)
	fresh, err := a.foresee(g)
	if err != nil {
		return err
	}
	known := graph.NewSet(g)
	for _, b := range fresh.Blocked {
		known.Add(g.Find(b.Object.UID))
	}
	o.left, o.blocked = fresh, append(fresh.Blocked, a.hanging(g, known)...)
	return nil
}

// hanging is what this run set going and what is still there, save for what is
// known already.
func (a *act) hanging(g *graph.Graph, known graph.Set) []plan.Blocked {
	judge := collector.NewJudge(g)
	hindrances := audit.NewHindrances(judge, collector.NewModel(g, judge))
	var out []plan.Blocked
	for _, o := range a.plan.Outcomes {
		n := g.Find(o.Object.UID)
		if now := g.Object(n); now != nil && now.Terminating() && known.Add(n) {
			by := hindrances.Of(n)
			out = append(out, plan.Blocked{Object: o.Object, By: by.By, Reason: by.Reason})
		}
	}
	return out
}
