package cli

import (
	"cmp"
	"context"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
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
	// accepted are the words of --accept-gap. suppose makes the plan with others; nil where
	// the command does not have the flag.
	accepted snapshot.AcceptedGaps
	suppose  func(snapshot.AcceptedGaps) (*plan.Plan, error)
	others   bool   // the cluster's own collector does all but what was asked for
	scope    scoped // of every scan
	// foresee makes the plan again after somebody has read it. What is asked for
	// need not be there any more.
	foresee planFunc
	// clusterUID identifies the cluster; empty: unknown, or not read yet.
	clusterUID types.UID
	// perform carries out the plan; nil: as execute.Run does. The Keeper is nil
	// where nothing is saved.
	perform func(context.Context, *cluster.Writer, execute.Keeper, execute.Options) *execute.Report
	// left makes the plan of what a run has left; nil: foresee does.
	left planFunc
	// unverified has no scan follow the run: nobody waits for what it sets going.
	unverified bool

	progress   *progress // of the run under way
	unrecorded unrecorded
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
	if err := a.hintAtFlag(); err != nil {
		return err
	}
	refused := a.preflight(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case a.dryRun == dryRunClient:
		return ending{dryRun: a.dryRun, strict: a.strict, complete: a.plan.CompleteButAccepted()}.code().orNil()
	case a.strict && !a.plan.CompleteButAccepted():
		return a.refuseIncomplete()
	case a.dryRun == dryRunServer:
		return a.rehearsed(ctx)
	case len(a.newGaps) > 0:
		return a.refuseNewGaps()
	case len(a.plan.Steps) == 0:
		return a.reportNothingToDo()
	case len(refused) > 0:
		return a.refuseRun(refused)
	}
	a.readClusterUID(ctx)
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
	case a.strict && !a.plan.CompleteButAccepted():
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
		"make a new plan, which names what could not be read: "+a.again("plan")+" --dry-run --plan-out FILE")
}

func (a *act) unreadByNow() string {
	names := make([]string, len(a.newGaps))
	for i, g := range a.newGaps {
		names[i] = escape.Short(g.String(), 200)
	}
	return wording.List(names, namedGaps)
}

func (a *act) warn() {
	a.warnOfGaps(a.seen)
	if len(a.newGaps) > 0 && !a.acts() {
		fmt.Fprintln(a.Err, "warning: a run would refuse this plan, because this scan could not read what the scan of the saved plan read: "+a.unreadByNow())
	}
	a.warnOfWords()
	if audit.SiblingsAtRisk(a.seen.Server) && len(a.plan.Steps) > 0 {
		fmt.Fprintf(a.Err, "warning: this server is %s: before 1.20 its garbage collector may also delete valid dependents of a bad reference's owner, which this plan does not predict\n", quoted(a.seen.Server))
	}
}

// outcome is that of a run which has done nothing yet.
func (a *act) outcome() outcome {
	return outcome{plan: a.plan, stale: a.stale, verification: verifiedNone, gaps: a.plan.Gaps}
}

// reportNothingToDo ends a run without a step. The scan of the plan is what proves
// that nothing is left.
func (a *act) reportNothingToDo() error {
	o := a.outcome()
	o.blocked, o.verification = a.plan.Blocked, verifiedBy(a.plan.CompleteButAccepted())
	if !a.plan.CompleteButAccepted() {
		fmt.Fprintln(a.Err, "warning: the scan was incomplete, so there may be more to do than it could find")
	}
	return a.report(o)
}

// rehearsed sends every step to the server, which does none of them.
func (a *act) rehearsed(ctx context.Context) error {
	o := a.outcome()
	o.rehearsal, o.blocked = true, a.plan.Blocked
	o.done = a.execute(ctx, nil)
	return a.report(o)
}

// carryOut saves, acts, and scans again.
func (a *act) carryOut(ctx context.Context) error {
	o := a.outcome()
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
	o.unrecorded = a.unrecorded.get() != nil
	if err := keep.close(!o.done.Interrupted, a.Now()); err != nil {
		o.unrecorded = true
		fmt.Fprintf(a.Err, "warning: close the backup: %s\n", escape.Short(err.Error(), 2000))
	}
	if a.plan.Mode == plan.Delete {
		o.blocked = a.plan.Refused() // a scan of what is left does not know what was asked for
	}
	o.timedOut = ctx.Err() == nil && o.done.Interrupted
	if ctx.Err() == nil && !a.unverified {
		a.verify(ctx, &o)
	}
	o.cut = ctx.Err() != nil
	return a.report(o)
}

// verify scans the cluster after the run, for at most as long as the run itself may
// take, and adds what is left to the outcome.
func (a *act) verify(ctx context.Context, o *outcome) {
	scanning, cancel := a.within(ctx)
	defer cancel()
	now, blocked, err := a.remaining(scanning)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		o.verification, o.blocked = verifiedFailed, a.plan.Blocked
		fmt.Fprintf(a.Err, "warning: the scan after the run failed, so what is left is not known: %s\n", escape.Short(err.Error(), 2000))
		return
	}
	o.verification, o.gaps = verifiedBy(now.plan.CompleteButAccepted()), now.plan.Gaps
	o.left, o.blocked = now.plan, slices.Concat(o.blocked, blocked, a.undeleted(o.done, now.graph))
	o.due = len(now.plan.Steps)
	if a.saved != nil {
		o.due = dueOf(a.saved, now.plan)
	}
	if !now.plan.CompleteButAccepted() {
		if !slices.Equal(now.plan.Gaps, a.plan.Gaps) {
			a.warnOfGaps(now.seen)
		}
		fmt.Fprintln(a.Err, "warning: the scan after the run was incomplete, so more may be left than it could find")
	}
	if a.others && o.due > 0 {
		fmt.Fprintln(a.Err, "warning: "+silent(o.due))
	}
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
		Tell: a.telling(keep), Ready: a.unrecorded.get,
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

// remaining scans the cluster, and returns the plan of what is left to do, and what
// is blocked: by that plan, and of what this run has set going.
func (a *act) remaining(ctx context.Context) (planned, []plan.Blocked, error) {
	make := a.foresee
	if a.left != nil {
		make = a.left
	}
	now, err := a.scanAndPlan(ctx, a.scope, make)
	if err != nil {
		return planned{}, nil, err
	}
	known := graph.NewSet(now.graph)
	for _, b := range now.plan.Blocked {
		known.Add(now.graph.Find(b.Object.UID))
	}
	return now, append(now.plan.Blocked, a.hanging(now.graph, known)...), nil
}

// undeleted returns what a step deleted by its own account and a scan finds all the
// same, as if nobody had.
func (a *act) undeleted(done *execute.Report, g *graph.Graph) []plan.Blocked {
	var out []plan.Blocked
	for i, result := range done.Results {
		s := &a.plan.Steps[i]
		if s.Action != collector.Remove || result.Status != event.Done {
			continue
		}
		if now := g.Object(g.Find(s.Object.UID)); now != nil && !now.Terminating() {
			out = append(out, plan.Blocked{
				Object: s.Object.Identity, By: []object.Identity{},
				Reason: reason.DeletionWithoutEffect{},
			})
		}
	}
	return out
}

// hanging is what this run set going and what is still there, save for what is
// known already.
func (a *act) hanging(g *graph.Graph, known graph.Set) []plan.Blocked {
	judge := collector.NewJudge(g)
	hindrances := audit.NewHindrances(judge, collector.NewActingModel(g, judge, a.accepted))
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
