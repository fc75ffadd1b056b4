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
	"github.com/kubectl-gc/kubectl-gc/pkg/print/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// planned is what one scan read, and the plan that was made from it.
type planned struct {
	live  *cluster.Cluster // nil where the scan came from a file
	seen  *snapshot.Snapshot
	graph *graph.Graph
	plan  *plan.Plan
}

// planFunc makes a plan from what a scan read. It may read more about the objects
// of the scan, and replace it by one that holds that.
type planFunc func(context.Context, *planned) error

// scanAndPlan scans the cluster and makes a plan of that.
func (s *source) scanAndPlan(ctx context.Context, scope scoped, make planFunc) (planned, error) {
	var p planned
	var err error
	if p.seen, p.live, err = s.look(ctx, scope); err != nil {
		return planned{}, err
	}
	p.graph = graph.New(p.seen)
	return p, make(ctx, &p)
}

// act is one plan on its way from the preview to the report.
type act struct {
	*changing
	planned
	// saved is the plan that is carried out, where that was saved before: only what
	// nobody changed since is done. stale are its steps that hold no more, and
	// newGaps what it did not know to be unread.
	saved   *plan.Plan
	stale   []plan.Stale
	newGaps []snapshot.Gap
	notes   []string // what is to be said beside the plan, a line each
	others  bool     // the cluster's own collector does all but what was asked for
	scope   scoped   // of every scan
	// foresee makes the plan again after somebody has read it. What is asked for
	// need not be there any more.
	foresee planFunc
	// perform carries out the plan; nil: as execute.Run does. The Keeper is nil
	// where nothing is saved.
	perform func(context.Context, *cluster.Writer, execute.Keeper, execute.Options) *execute.Report
	// left makes the plan of what a run has left; nil: foresee does.
	left planFunc
	// after sees what a run left and adds it to the outcome. Nil: lookAgain.
	after func(context.Context, *outcome) error

	progress *progress // of the run under way
}

// prepare scans the cluster and makes the plan; of a saved plan it is what is left
// of that.
func (a *act) prepare(ctx context.Context, make planFunc) error {
	now, err := a.scanAndPlan(ctx, a.scope, make)
	if err != nil {
		return err
	}
	if a.saved != nil {
		a.newGaps = plan.NewGaps(a.saved, now.plan)
		now.plan, a.stale = plan.Renew(a.saved, now.plan)
	}
	a.planned = now
	return nil
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
		return a.refuseIncomplete()
	case a.dryRun == dryRunServer:
		return a.rehearsed(ctx)
	case len(a.newGaps) > 0:
		return a.refuseNewGaps()
	case len(a.plan.Steps) == 0:
		return a.report(outcome{plan: a.plan, stale: a.stale, blocked: a.plan.Blocked})
	case len(lacks) > 0:
		return a.unsent(lacks)
	}
	if err := a.confirmed(ctx, a.Streams, a.plan); err != nil {
		return err
	}
	if a.asks() { // reading takes time
		if err := a.prepareAgain(ctx); err != nil {
			return err
		}
	}
	return a.carryOut(ctx)
}

// prepareAgain makes the plan again after somebody has read it and said yes, and
// refuses where it is another by then. What is carried out is the new one: it rests
// on the objects as they are now.
func (a *act) prepareAgain(ctx context.Context) error {
	shown := a.plan.Sealed().Digest // of a saved plan, that of what is left of it
	if err := a.prepare(ctx, a.foresee); err != nil {
		return err
	}
	switch {
	case a.strict && !a.plan.Complete:
		return a.refuseIncomplete()
	case a.plan.Sealed().Digest != shown:
		return refuse(a.Streams, exitUnconfirmed, "the cluster changed while you were reading, and the plan would be different now: nothing was changed", "preview it again: "+a.again())
	}
	return nil
}

func (a *act) refuseIncomplete() error {
	return refuse(a.Streams, exitIncomplete, "the scan is incomplete; refused because of --strict: nothing was changed", "")
}

// refuseNewGaps refuses a saved plan as a whole. A gap that its reader did not know
// of may hide what depends on any object of the plan, or is in one.
func (a *act) refuseNewGaps() error {
	return refuse(a.Streams, exitUnconfirmed, "this scan could not read what the scan of the saved plan read: "+a.unreadByNow()+". Nothing was changed",
		"make the plan again, so that it names what could not be read: "+a.again("plan")+" --dry-run --plan-out FILE")
}

func (a *act) unreadByNow() string {
	names := make([]string, len(a.newGaps))
	for i, g := range a.newGaps {
		names[i] = escape.Short(g.String(), 200)
	}
	return phrase.List(names, namedGaps)
}

func (a *act) warn() {
	a.warnOfGaps(a.seen)
	if len(a.newGaps) > 0 && !a.acts() {
		fmt.Fprintln(a.Err, "warning: a run would refuse this plan, as this scan could not read what the scan of the saved plan read: "+a.unreadByNow())
	}
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
		Concurrency: cmp.Or(a.writers, a.concurrency), Frozen: a.saved != nil, DryRun: a.dryRun == dryRunServer,
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
	make := a.foresee
	if a.left != nil {
		make = a.left
	}
	now, err := a.scanAndPlan(ctx, a.scope, make)
	if err != nil {
		return err
	}
	known := graph.NewSet(now.graph)
	for _, b := range now.plan.Blocked {
		known.Add(now.graph.Find(b.Object.UID))
	}
	o.left, o.blocked = now.plan, append(now.plan.Blocked, a.hanging(now.graph, known)...)
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
