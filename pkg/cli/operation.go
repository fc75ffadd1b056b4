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
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Planned is what one scan read, and the plan that was made from it.
type Planned struct {
	Cluster  *client.Client // nil where the scan came from a file
	Snapshot *snapshot.Snapshot
	Graph    *graph.Graph
	Plan     *plan.Plan
}

// PlanFunc makes a plan from what a scan read. It may read more about the objects
// of the scan, and replace it by one that holds that.
type PlanFunc func(context.Context, *Planned) error

// scanAndPlan scans the cluster and makes a plan of that.
func (s *ScanOptions) scanAndPlan(ctx context.Context, scope ScopeFunc, make PlanFunc) (Planned, error) {
	var p Planned
	var err error
	if p.Snapshot, p.Cluster, err = s.Scan(ctx, scope); err != nil {
		return Planned{}, err
	}
	p.Graph = graph.New(p.Snapshot)
	return p, make(ctx, &p)
}

// Operation is one plan on its way from the preview to the report.
type Operation struct {
	Options *MutatingOptions
	Planned
	// Saved is the plan that is carried out, where that was saved before: only what
	// nobody changed since is done. stale are its steps that hold no more, and
	// newGaps what it did not know to be unread.
	Saved   *plan.Plan
	Stale   []plan.Stale
	NewGaps []snapshot.Gap
	Notes   []string // what is to be said beside the plan, a line each
	// AcceptedGaps are the words of --accept-gap. suppose makes the plan with others; nil where
	// the command does not have the flag.
	AcceptedGaps          snapshot.AcceptedGaps
	PlanAccepting         func(snapshot.AcceptedGaps) (*plan.Plan, error)
	LeavesRestToCollector bool      // the cluster's own collector does all but what was asked for
	Scope                 ScopeFunc // of every scan
	// Replan makes the plan again after somebody has read it. What is asked for
	// need not be there any more.
	Replan PlanFunc
	// ClusterUID identifies the cluster; empty: unknown, or not read yet.
	ClusterUID types.UID
	// Perform carries out the plan; nil: as execute.Run does. The Keeper is nil
	// where nothing is saved.
	Perform func(context.Context, *write.Writer, execute.BackupWriter, execute.Options) *execute.Report
	// PlanRemaining makes the plan of what a run has left; nil: foresee does.
	PlanRemaining PlanFunc
	// SkipVerification has no scan follow the run: nobody waits for what it sets going.
	SkipVerification bool

	Progress   *progressLine // of the run under way
	Unrecorded journalFailure
}

// Prepare scans the cluster and makes the plan; of a saved plan it is what is left
// of that.
func (a *Operation) Prepare(ctx context.Context, make PlanFunc) error {
	now, err := a.Options.Scan.scanAndPlan(ctx, a.Scope, make)
	if err != nil {
		return err
	}
	if a.Saved != nil {
		a.NewGaps = plan.NewGaps(a.Saved, now.Plan)
		now.Plan, a.Stale = plan.Revalidate(a.Saved, now.Plan)
	}
	a.Planned = now
	return nil
}

func (a *Operation) Run(ctx context.Context) error {
	a.warn()
	if err := a.preview(); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if err := a.hintAcceptGap(); err != nil {
		return err
	}
	refused := a.preflight(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case a.Options.DryRun == dryRunClient:
		return exitFacts{dryRun: a.Options.DryRun, strict: a.Options.Scan.Strict, complete: a.Plan.CompleteButAccepted()}.code().OrNil()
	case a.Options.Scan.Strict && !a.Plan.CompleteButAccepted():
		return a.refuseIncomplete()
	case a.Options.DryRun == dryRunServer:
		return a.dryRunServer(ctx)
	case len(a.NewGaps) > 0:
		return a.refuseNewGaps()
	case len(a.Plan.Steps) == 0:
		return a.reportNothingToDo()
	case len(refused) > 0:
		return a.refuseRun(refused)
	}
	a.readClusterUID(ctx)
	if err := a.Options.confirmPlan(ctx, a.Options.Scan.Streams, a.Plan); err != nil {
		return err
	}
	if a.Options.Prompts() { // reading takes time
		if err := a.PlanAgain(ctx); err != nil {
			return err
		}
	}
	return a.apply(ctx)
}

// PlanAgain makes the plan again after somebody has read it and said yes, and
// refuses where it is another by then. What is carried out is the new one: it rests
// on the objects as they are now.
func (a *Operation) PlanAgain(ctx context.Context) error {
	shown := a.Plan.Finalized().Digest // of a saved plan, that of what is left of it
	if err := a.Prepare(ctx, a.Replan); err != nil {
		return err
	}
	switch {
	case a.Options.Scan.Strict && !a.Plan.CompleteButAccepted():
		return a.refuseIncomplete()
	case a.Plan.Finalized().Digest != shown:
		return refuse(a.Options.Scan.Streams, ExitUnconfirmed, "the cluster changed while you were reading, and the plan would be different now: nothing was changed", "preview it again: "+a.Options.rerunCommand())
	}
	return nil
}

func (a *Operation) refuseIncomplete() error {
	return refuse(a.Options.Scan.Streams, ExitIncomplete, "the scan is incomplete; refused because of --strict: nothing was changed", "")
}

// refuseNewGaps refuses a saved plan as a whole. A gap that its reader did not know
// of may hide what depends on any object of the plan, or is in one.
func (a *Operation) refuseNewGaps() error {
	return refuse(a.Options.Scan.Streams, ExitUnconfirmed, "this scan could not read what the scan of the saved plan read: "+a.newGapList()+". Nothing was changed",
		"make a new plan, which names what could not be read: "+a.Options.rerunCommand("plan")+" --dry-run --plan-out FILE")
}

func (a *Operation) newGapList() string {
	names := make([]string, len(a.NewGaps))
	for i, g := range a.NewGaps {
		names[i] = escape.Short(g.String(), 200)
	}
	return wording.List(names, MaxNamedGaps)
}

func (a *Operation) warn() {
	a.Options.Scan.WarnOfGaps(a.Snapshot)
	if len(a.NewGaps) > 0 && !a.Options.Mutates() {
		fmt.Fprintln(a.Options.Scan.Err, "warning: a run would refuse this plan, because this scan could not read what the scan of the saved plan read: "+a.newGapList())
	}
	a.warnOfUnusedAcceptGaps()
	if audit.SiblingsAtRisk(a.Snapshot.Server) && len(a.Plan.Steps) > 0 {
		fmt.Fprintf(a.Options.Scan.Err, "warning: this server is %s: before 1.20 its garbage collector may also delete valid dependents of a bad reference's owner, which this plan does not predict\n", Quote(a.Snapshot.Server))
	}
}

// outcome is that of a run which has done nothing yet.
func (a *Operation) outcome() runOutcome {
	return runOutcome{plan: a.Plan, stale: a.Stale, verification: verifiedNone, gaps: a.Plan.Gaps}
}

// reportNothingToDo ends a run without a step. The scan of the plan is what proves
// that nothing is left.
func (a *Operation) reportNothingToDo() error {
	o := a.outcome()
	o.blocked, o.verification = a.Plan.Blocked, verifiedBy(a.Plan.CompleteButAccepted())
	if !a.Plan.CompleteButAccepted() {
		fmt.Fprintln(a.Options.Scan.Err, "warning: the scan was incomplete, so there may be more to do than it could find")
	}
	return a.report(o)
}

// dryRunServer sends every step to the server, which does none of them.
func (a *Operation) dryRunServer(ctx context.Context) error {
	o := a.outcome()
	o.rehearsal, o.blocked = true, a.Plan.Blocked
	o.done = a.execute(ctx, nil)
	return a.report(o)
}

// apply saves, acts, and scans again.
func (a *Operation) apply(ctx context.Context) error {
	o := a.outcome()
	acting, cancel := a.withRunTimeout(ctx)
	defer cancel()
	signal.Ignore(syscall.SIGPIPE) // whoever reads may leave: a run is not cut short by that
	keep, err := a.newRunBackup()
	if err != nil {
		return err
	}
	if keep != nil {
		o.backup = keep.folder.Path()
	}
	begun := a.Options.Scan.Now()
	o.done = a.execute(acting, keep)
	o.took = a.Options.Scan.Now().Sub(begun)
	o.unrecorded = a.Unrecorded.get() != nil
	if err := keep.close(!o.done.Interrupted, a.Options.Scan.Now()); err != nil {
		o.unrecorded = true
		fmt.Fprintf(a.Options.Scan.Err, "warning: close the backup: %s\n", escape.Short(err.Error(), 2000))
	}
	if a.Plan.Mode == plan.Delete {
		o.blocked = a.Plan.Refused() // a scan of what is left does not know what was asked for
	}
	o.timedOut = ctx.Err() == nil && o.done.Interrupted
	if ctx.Err() == nil && !a.SkipVerification {
		a.verify(ctx, &o)
	}
	o.cutShort = ctx.Err() != nil
	return a.report(o)
}

// verify scans the cluster after the run, for at most as long as the run itself may
// take, and adds what is left to the outcome.
func (a *Operation) verify(ctx context.Context, o *runOutcome) {
	scanning, cancel := a.withRunTimeout(ctx)
	defer cancel()
	now, blocked, err := a.remaining(scanning)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		o.verification, o.blocked = verifiedFailed, a.Plan.Blocked
		fmt.Fprintf(a.Options.Scan.Err, "warning: the scan after the run failed, so what is left is not known: %s\n", escape.Short(err.Error(), 2000))
		return
	}
	o.verification, o.gaps = verifiedBy(now.Plan.CompleteButAccepted()), now.Plan.Gaps
	o.left, o.blocked = now.Plan, slices.Concat(o.blocked, blocked, a.deletedButPresent(o.done, now.Graph))
	o.due = len(now.Plan.Steps)
	if a.Saved != nil {
		o.due = remainingSteps(a.Saved, now.Plan)
	}
	if !now.Plan.CompleteButAccepted() {
		if !slices.Equal(now.Plan.Gaps, a.Plan.Gaps) {
			a.Options.Scan.WarnOfGaps(now.Snapshot)
		}
		fmt.Fprintln(a.Options.Scan.Err, "warning: the scan after the run was incomplete, so more may be left than it could find")
	}
	if a.LeavesRestToCollector && o.due > 0 {
		fmt.Fprintln(a.Options.Scan.Err, "warning: "+idleWarning(o.due))
	}
}

func (a *Operation) withRunTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.Options.runTimeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.Options.runTimeout)
}

// execute carries out the plan and tells of it.
func (a *Operation) execute(ctx context.Context, keep *runBackup) *execute.Report {
	a.Progress = a.Options.Scan.progressOf(a.Plan)
	defer a.Progress.clear()
	o := execute.Options{
		Concurrency: cmp.Or(a.Options.writers, a.Options.Scan.concurrency), RequireUnchanged: a.Saved != nil, DryRun: a.Options.DryRun == dryRunServer,
		OnEvent: a.onEvent(keep), Ready: a.Unrecorded.get,
	}
	var saving execute.BackupWriter
	if keep != nil {
		saving = keep
	}
	writer := write.New(a.Cluster, a.Snapshot, o.DryRun)
	if a.Perform != nil {
		return a.Perform(ctx, writer, saving, o)
	}
	return execute.Run(ctx, a.Plan, a.Graph, writer, saving, o)
}

// remaining scans the cluster, and returns the plan of what is left to do, and what
// is blocked: by that plan, and of what this run has set going.
func (a *Operation) remaining(ctx context.Context) (Planned, []plan.Blocked, error) {
	make := a.Replan
	if a.PlanRemaining != nil {
		make = a.PlanRemaining
	}
	now, err := a.Options.Scan.scanAndPlan(ctx, a.Scope, make)
	if err != nil {
		return Planned{}, nil, err
	}
	known := graph.NewSet(now.Graph)
	for _, b := range now.Plan.Blocked {
		known.Add(now.Graph.Find(b.Object.UID))
	}
	return now, append(now.Plan.Blocked, a.stillTerminating(now.Graph, known)...), nil
}

// deletedButPresent returns what a step deleted by its own account and a scan finds all the
// same, as if nobody had.
func (a *Operation) deletedButPresent(done *execute.Report, g *graph.Graph) []plan.Blocked {
	var out []plan.Blocked
	for i, result := range done.Results {
		s := &a.Plan.Steps[i]
		if s.Action != collector.ActionDelete || result.Status != event.Done {
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

// stillTerminating is what this run set going and what is still there, save for what is
// known already.
func (a *Operation) stillTerminating(g *graph.Graph, known graph.Set) []plan.Blocked {
	judge := collector.NewJudge(g)
	hindrances := audit.NewBlockers(judge, simulate.NewApplyModel(g, judge, a.AcceptedGaps))
	var out []plan.Blocked
	for _, o := range a.Plan.Outcomes {
		n := g.Find(o.Object.UID)
		if now := g.Object(n); now != nil && now.Terminating() && known.Add(n) {
			by := hindrances.Of(n)
			out = append(out, plan.Blocked{Object: o.Object, By: by.By, Reason: by.Reason})
		}
	}
	return out
}
