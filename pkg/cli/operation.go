package cli

import (
	"context"
	"fmt"
	"os/signal"
	"sync/atomic"
	"syscall"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MutatingCommand is what collect, delete, repair and restore each do in their own way.
// Operation does what they have in common.
type MutatingCommand interface {
	// Scope returns what every scan of the operation reads.
	Scope(served []snapshot.Type) (scan.Scope, error)
	// Plan plans what the user requested. It is called again once more is known about the volumes.
	Plan(context.Context, *PlannedScan) error
	// Replan is Plan after the user has confirmed. Requested objects may be gone by then.
	Replan(context.Context, *PlannedScan) error
	// PlanRemaining plans what is left to do after a run of done.
	PlanRemaining(_ context.Context, done *plan.Plan, after *PlannedScan) error
	// PlanAccepting returns the plan that the scan leads to if these gaps are accepted.
	PlanAccepting(*PlannedScan, snapshot.AcceptedGaps) (*plan.Plan, error)
	// Perform carries out op.Current.Plan. The BackupWriter is nil if nothing is backed up.
	Perform(_ context.Context, op *Operation, _ planrun.BackupWriter, _ execute.Options) *execute.Report
}

// PlannedScan is what one scan read, and the plan made from it.
type PlannedScan struct {
	Cluster  *client.Client // nil if the scan read a file
	Snapshot *snapshot.Snapshot
	Judge    *collector.Judge // of the snapshot's graph
	Plan     *plan.Plan
}

// Graph returns the graph of the snapshot.
func (p *PlannedScan) Graph() *graph.Graph { return p.Judge.Graph() }

// Operation takes one plan of a mutating command from the preview to the report.
type Operation struct {
	Options *MutatingOptions
	Command MutatingCommand
	Current PlannedScan // the latest one before the run
	Notes   []string    // lines to print after the preview
	// LeavesRestToCollector means that this tool does only what the user requested, and
	// the cluster's own garbage collector what follows from it.
	LeavesRestToCollector bool
	SkipVerification      bool      // do not scan after the run
	ClusterUID            types.UID // empty if unknown or not read yet

	progress *progressLine // of the current run
	failure  atomic.Pointer[error]
}

// Prepare scans the cluster and plans. If claims or volumes would go, it reads who uses them and what becomes
// of their data, and plans again.
func (op *Operation) Prepare(ctx context.Context) error {
	return op.prepare(ctx, op.Command.Plan)
}

// planFunc is one of the methods of MutatingCommand that plan by what a scan read.
type planFunc func(context.Context, *PlannedScan) error

func (op *Operation) prepare(ctx context.Context, plans planFunc) error {
	now, err := op.scanAndPlan(ctx, plans)
	if err != nil {
		return err
	}
	if namespaces := now.Plan.VolumeNamespaces(now.Graph()); now.Cluster != nil && len(namespaces) > 0 {
		seen, err := read.MarkVolumes(ctx, now.Cluster, now.Snapshot, namespaces)
		if err != nil {
			return err
		}
		now.Snapshot, now.Judge = seen, collector.NewJudge(graph.New(seen))
		if err := plans(ctx, &now); err != nil {
			return err
		}
	}
	op.Current = now
	return nil
}

func (op *Operation) scanAndPlan(ctx context.Context, plans planFunc) (PlannedScan, error) {
	var p PlannedScan
	var err error
	if p.Snapshot, p.Cluster, err = op.Options.Scan.Scan(ctx, op.Command.Scope); err != nil {
		return PlannedScan{}, err
	}
	p.Judge = collector.NewJudge(graph.New(p.Snapshot))
	var nodes []string
	if err = plans(ctx, &p); err == nil {
		for _, lost := range p.Plan.LostObjects() {
			if lost.Object.IsNode() {
				nodes = append(nodes, lost.Object.Name)
			}
		}
	}
	if err != nil || len(nodes) == 0 {
		return p, err
	}
	if p.Snapshot, err = read.MarkPodsOf(ctx, p.Cluster, p.Snapshot, nodes); err != nil {
		return p, err
	}
	p.Judge = collector.NewJudge(graph.New(p.Snapshot))
	return p, plans(ctx, &p)
}

// Run shows the prepared plan, asks for confirmation, carries it out and verifies the
// result.
func (op *Operation) Run(ctx context.Context) error {
	op.warn()
	op.warnOfRefusals(ctx)
	if err := op.preview(); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if err := op.hintAcceptGap(); err != nil {
		return err
	}
	refused := op.preflight(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	complete, options := op.Current.Plan.CompleteButAccepted(), op.Options
	if err := op.checkRate(); err != nil {
		return err
	}
	switch {
	case options.DryRun == dryRunClient:
		op.hintConfirm(refused)
		return op.outcome().facts.code().OrNil()
	case options.Scan.Strict && !complete:
		return op.refuseIncomplete()
	case options.DryRun == dryRunServer:
		return op.dryRunServer(ctx)
	case len(op.Current.Plan.Steps) == 0:
		return op.reportNothingToDo()
	case len(refused) > 0:
		return op.refuseRun(refused)
	}
	if !options.NoBackup {
		op.IdentifyCluster(ctx, "its backup can be restored only with --to-another-cluster")
	}
	if err := options.confirmPlan(ctx, op.Current.Plan); err != nil {
		return err
	}
	if options.Prompts() { // the objects may have changed while the user was reading
		if err := op.planAgain(ctx); err != nil {
			return err
		}
	}
	return op.apply(ctx)
}

func (op *Operation) warn() {
	op.Options.Scan.WarnOfGaps(op.Current.Snapshot)
	op.warnOfTooManyDeletes()
	op.warnOfUnusedAcceptGaps()
	if server := op.Current.Snapshot.Server; !op.Current.Judge.Behavior().IdentityAwareOwners && len(op.Current.Plan.Steps) > 0 {
		fmt.Fprintf(op.Options.Scan.Err, "warning: this server is %s: before 1.20 its garbage collector may also delete valid dependents of a bad reference's owner, which this plan does not predict\n", Quote(server))
	}
}

// warnOfTooManyDeletes warns in a dry run that --max-deletes does not permit the run.
func (op *Operation) warnOfTooManyDeletes() {
	if excess := op.Options.exceedsMaxDeletes(op.Current.Plan); !op.Options.Mutates() && excess != "" {
		fmt.Fprintf(op.Options.Scan.Err, "warning: with --yes or --confirm, a run would refuse this plan: it %s; to allow it, use --max-deletes %d\n", excess, op.Current.Plan.Losses())
	}
}

// planAgain plans once more after the user has confirmed, and refuses to continue if the
// plan differs. The new plan is the one to carry out: it is bound to the current state of
// the objects.
func (op *Operation) planAgain(ctx context.Context) error {
	confirmed := op.Current.Plan.Digest
	if err := op.prepare(ctx, op.Command.Replan); err != nil {
		return err
	}
	switch {
	case op.Options.Scan.Strict && !op.Current.Plan.CompleteButAccepted():
		return op.refuseIncomplete()
	case op.Current.Plan.Digest != confirmed:
		return Refuse(op.Options.Scan.Streams, ExitUnconfirmed, "the cluster changed while you were reading, and the plan would be different now: nothing was changed", "preview it again: "+op.Options.rerunCommand())
	}
	return nil
}

func (op *Operation) refuseIncomplete() error {
	return Refuse(op.Options.Scan.Streams, ExitIncomplete, "the scan is incomplete; refused because of --strict: nothing was changed", "")
}

// reportNothingToDo ends an operation without steps. Its own scan verifies that nothing
// is left.
func (op *Operation) reportNothingToDo() error {
	o := op.outcome()
	o.blocked, o.facts.verification = op.Current.Plan.Blocked, verifiedBy(o.facts.complete)
	if !o.facts.complete {
		fmt.Fprintln(op.Options.Scan.Err, "warning: the scan was incomplete, so there may be more to do than it could find")
	}
	return op.report(o)
}

// dryRunServer sends every step to the API server as a dry run.
func (op *Operation) dryRunServer(ctx context.Context) error {
	o := op.outcome()
	o.blocked = op.Current.Plan.Blocked
	o.done = op.execute(ctx, nil)
	o.facts.interrupted = o.done.Interrupted
	return op.report(o)
}

// apply opens the backup, carries out the plan, and verifies the result.
func (op *Operation) apply(ctx context.Context) error {
	o := op.outcome()
	running, cancel := op.withRunTimeout(ctx)
	defer cancel()
	signal.Ignore(syscall.SIGPIPE) // a run continues when nobody reads its output any more
	b, err := op.newRunBackup()
	if err != nil {
		return err
	}
	if b != nil {
		o.backup = b.folder.Path()
	}
	if !op.Options.ForPerson() && !op.Options.Prompts() { // neither a preview nor a question has named the cluster
		fmt.Fprintln(op.Options.Scan.Err, "running the plan"+op.Options.place(op.Current.Plan))
	}
	begun := op.Options.Scan.Now()
	o.done = op.execute(running, b)
	o.took = op.Options.Scan.Now().Sub(begun)
	o.gone = len(o.done.Gone)
	o.facts.unrecorded = op.recordError() != nil
	if err := b.close(!o.done.Interrupted, op.Options.Scan.Now()); err != nil {
		o.facts.unrecorded = true
		fmt.Fprintf(op.Options.Scan.Err, "warning: close the backup: %s\n", escape.Short(err.Error(), 2000))
	}
	if op.Current.Plan.Mode.Cascades() {
		o.blocked = op.Current.Plan.Refused() // a plan of what remains does not know what was requested
	}
	o.facts.timedOut = ctx.Err() == nil && o.done.Interrupted
	if ctx.Err() == nil && !op.SkipVerification {
		op.verify(ctx, &o)
	}
	o.facts.interrupted = ctx.Err() != nil
	return op.report(o)
}

// outcome returns the outcome of a run that has done nothing yet.
func (op *Operation) outcome() runOutcome {
	p := op.Current.Plan
	return runOutcome{plan: p, gaps: p.Gaps, facts: exitFacts{
		dryRun: op.Options.DryRun, strict: op.Options.Scan.Strict, complete: p.CompleteButAccepted(), verification: verifiedNone,
	}}
}

func (op *Operation) withRunTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if op.Options.runTimeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, op.Options.runTimeout)
}

// execute has the command carry out the plan, with a backup unless b is nil.
func (op *Operation) execute(ctx context.Context, b *runBackup) *execute.Report {
	scan := op.Options.Scan
	op.progress = &progressLine{scan: scan, line: planview.NewProgress(op.Current.Plan), begun: scan.Now(), on: scan.ErrTerm}
	defer op.progress.clear()
	o := op.Options.ExecuteOptions()
	o.DryRun, o.OnEvent, o.Ready = op.Options.DryRun == dryRunServer, op.onEvent(b), op.recordError
	if b == nil { // a nil *runBackup would be a BackupWriter that is not nil
		return op.Command.Perform(ctx, op, nil, o)
	}
	return op.Command.Perform(ctx, op, b, o)
}

// RunPlan carries out the current plan, step by step. If it leaves the rest to the cluster's
// own garbage collector, it waits for that, and explains a stall.
func (op *Operation) RunPlan(ctx context.Context, b planrun.BackupWriter, common execute.Options) *execute.Report {
	w := write.New(op.Current.Cluster, op.Current.Snapshot, common.DryRun)
	o := planrun.Options{Common: common, RequestedOnly: op.LeavesRestToCollector}
	if op.LeavesRestToCollector && !op.SkipVerification && !common.DryRun {
		o.Watcher = w
		watchdog := startWatchdog(ctx, op.explainStall)
		defer watchdog.stop()
		o.Common.OnEvent = func(e event.Event) {
			watchdog.observe(e)
			common.OnEvent(e)
		}
	}
	return planrun.Run(ctx, op.Current.Plan, op.Current.Judge, w, b, o)
}
