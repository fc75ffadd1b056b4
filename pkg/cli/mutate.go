package cli

import (
	"context"
	"fmt"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/health"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// This file carries collect, delete, repair and restore from the first scan to the report, in the
// order in which things happen. A command builds a Job and calls Scan, Plan and Run. controller
// does not come this way: see package controller.

// Job is what differs between the commands that change something.
type Job struct {
	Options *MutatingOptions
	// Scope is what every scan reads.
	Scope scan.Scope
	// Plan plans what the user requested, if these gaps are accepted. It is called again after the
	// question; an object that is gone by then is no error.
	Plan func(context.Context, Scanned, snapshot.AcceptedGaps) (*plan.Plan, error)
	// Remaining plans what the plan done has left to do.
	Remaining func(_ context.Context, done *plan.Plan, after Scanned) (*plan.Plan, error)
	// Recreate carries out the plan of a restoration. Nil: the plan is carried out as it is.
	Recreate func(context.Context, Planned, execute.Tuning) *execute.RunResult
	// LeavesRestToCollector means that this tool does only what the user requested, and
	// the cluster's own garbage collector what follows from it.
	LeavesRestToCollector bool
	SkipVerification      bool // do not scan after the run
}

// Scanned is what one scan read.
type Scanned struct {
	Cluster  *client.Client // nil if the scan read a file
	Snapshot *snapshot.Snapshot
	Judge    *collector.Judge // of the snapshot's graph
}

// Graph returns the graph of the snapshot.
func (s Scanned) Graph() *graph.Graph { return s.Judge.Graph() }

// Planned is what one scan read, and the plan made from it.
type Planned struct {
	Scanned
	Plan *plan.Plan
}

// Scan scans the cluster, or reads the file of --from.
func Scan(ctx context.Context, j Job) (Scanned, error) {
	scope := j.Scope
	scope.Labels = scope.Labels || j.Options.DryRun != dryRunClient // by which admission selects objects
	seen, live, err := j.Options.Scan.Scan(ctx, scope)
	if err != nil {
		return Scanned{}, err
	}
	return scanned(live, seen), nil
}

func scanned(live *client.Client, seen *snapshot.Snapshot) Scanned {
	return Scanned{live, seen, collector.NewJudge(graph.New(seen))}
}

// Plan plans by what a scan read. It reads the inventories of what would go, and plans again, until nothing with another one goes
// because of that. If Nodes would go, it reads which Pods run on them, if ServiceAccounts would, which
// Secrets are their tokens, and if claims or volumes would, who uses them and what becomes of their data, and plans
// again. It also reads what the controllers of requested objects do without them.
func Plan(ctx context.Context, j Job, seen Scanned) (now Planned, err error) {
	now = Planned{Scanned: seen}
	if now.Plan, err = j.Plan(ctx, seen, j.Options.AcceptedGaps); err != nil {
		return now, err
	}
	inventories := slices.Repeat([]func(context.Context, Planned) (*snapshot.Snapshot, error){readInventories}, maxNested)
	for _, readMore := range append(inventories, readPodsOfNodes, readTokens, readLifecycles, readVolumes) {
		more, err := readMore(ctx, now)
		if err != nil {
			return now, err
		}
		if more == now.Snapshot {
			continue
		}
		now.Scanned = scanned(now.Cluster, more)
		if now.Plan, err = j.Plan(ctx, now.Scanned, j.Options.AcceptedGaps); err != nil {
			return now, err
		}
	}
	if now, err = askAdmission(ctx, j, now); err != nil {
		return now, err
	}
	services := lost(now.Plan, object.Identity.IsService, func(o object.Identity) string { return o.Namespace + "/" + o.Name })
	if len(services) > 0 {
		called, err := health.ServicesCalled(ctx, now.Cluster, now.Snapshot)
		now.Plan.BackendsUnknown = err != nil
		now.Plan.AddLostBackends(called, services)
	}
	return now, ctx.Err()
}

const (
	maxNested      = 10  // how deep inventories are read that list objects with inventories
	maxInventories = 500 // of each depth
)

func readInventories(ctx context.Context, now Planned) (*snapshot.Snapshot, error) {
	var objects []*object.Object
	for _, loss := range now.Plan.LostObjects {
		o := now.Graph().Object(now.Graph().Find(loss.Object.UID))
		if snapshot.InventoryController(o) != "" && now.Snapshot.Inventories[o.UID] == nil && len(objects) < maxInventories {
			objects = append(objects, o)
		}
	}
	if now.Cluster == nil || len(objects) == 0 {
		return now.Snapshot, nil
	}
	return read.MarkInventories(ctx, now.Cluster, now.Snapshot, objects)
}

func readPodsOfNodes(ctx context.Context, now Planned) (*snapshot.Snapshot, error) {
	nodes := lost(now.Plan, object.Identity.IsNode, func(o object.Identity) string { return o.Name })
	if len(nodes) == 0 {
		return now.Snapshot, nil
	}
	return read.MarkPodsOf(ctx, now.Cluster, now.Snapshot, nodes)
}

func readTokens(ctx context.Context, now Planned) (*snapshot.Snapshot, error) {
	gone := lost(now.Plan, object.Identity.IsNamespace, object.Identity.InNamespace) // with everything in them
	namespaces := slices.DeleteFunc(lost(now.Plan, object.Identity.IsServiceAccount, object.Identity.InNamespace), func(name string) bool {
		return slices.Contains(gone, name)
	})
	return read.MarkTokens(ctx, now.Cluster, now.Snapshot, namespaces)
}

// lost returns what of gives for the objects that a plan deletes and that match, without duplicates.
func lost(p *plan.Plan, matches func(object.Identity) bool, of func(object.Identity) string) (out []string) {
	for _, loss := range p.LostObjects {
		if matches(loss.Object) {
			out = append(out, of(loss.Object))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxLifecycles is how many requested objects are read whole for what their controllers do without them.
const maxLifecycles = 50

func readLifecycles(ctx context.Context, now Planned) (*snapshot.Snapshot, error) {
	var objects []*object.Object
	for i := range now.Plan.Steps {
		s := &now.Plan.Steps[i]
		o := now.Graph().Object(now.Graph().Find(s.Object.UID))
		if s.Requested && s.Action == plan.ActionDelete && o.HasLifecycle() && o.Controlled() && !o.Running && len(objects) < maxLifecycles {
			objects = append(objects, o)
		}
	}
	if now.Cluster == nil || len(objects) == 0 {
		return now.Snapshot, nil
	}
	return read.MarkLifecycles(ctx, now.Cluster, now.Snapshot, objects)
}

func readVolumes(ctx context.Context, now Planned) (*snapshot.Snapshot, error) {
	namespaces := now.Plan.VolumeNamespaces(now.Graph())
	if now.Cluster == nil || len(namespaces) == 0 {
		return now.Snapshot, nil
	}
	return read.MarkVolumes(ctx, now.Cluster, now.Snapshot, namespaces)
}

// Run shows the plan and the notes below it. A dry run ends there. Otherwise it asks for confirmation unless flags
// give it, plans again if it asked, backs up, carries out the plan, verifies the result and reports it.
func Run(ctx context.Context, j Job, now Planned, notes ...string) error {
	o := j.Options
	warn(ctx, o, now)
	if err := preview(o, now.Plan, notes); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if err := hintAcceptGap(ctx, j, now); err != nil {
		return err
	}
	refused := preflight(ctx, j, now)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := checkRate(j, now.Plan); err != nil {
		return err
	}
	var denied []object.Identity
	if len(refused) == 0 {
		denied = warnOfUndo(ctx, o, now)
	}
	switch {
	case o.DryRun == dryRunClient:
		hintConfirm(o, now.Plan, refused)
		return newOutcome(j, now.Plan).facts.code().OrNil()
	case o.Scan.Strict && !now.Plan.CompleteButAccepted():
		return refuseIncomplete(o)
	case o.DryRun == dryRunServer:
		return tryOut(ctx, j, now)
	case len(now.Plan.Steps) == 0:
		return reportNothingToDo(j, now.Plan)
	case len(refused) > 0:
		return refuseRun(j, now.Plan, refused)
	}
	var clusterUID types.UID
	if !o.NoBackup {
		clusterUID = IdentifyCluster(ctx, now.Cluster, now.Snapshot)
	}
	if err := confirmPlan(ctx, o, now.Plan); err != nil {
		return err
	}
	if o.Prompts() { // the objects may have changed while the user was reading
		var err error
		if now, err = planAgain(ctx, j, now); err != nil {
			return err
		}
	}
	return apply(ctx, j, now, clusterUID, denied)
}

func warn(ctx context.Context, o *MutatingOptions, now Planned) {
	o.Scan.WarnOfGaps(now.Snapshot)
	if excess := o.exceedsMaxDeletes(now.Plan); !o.Mutates() && excess != "" {
		fmt.Fprintf(o.Scan.Err, "warning: with --yes or --confirm, a run would refuse this plan: it %s; to allow it, use --max-deletes %d\n", excess, len(now.Plan.LostObjects))
	}
	if inUse := planview.Breaks(now.Plan); !o.Mutates() && len(inUse) > 0 && !o.allowInUse {
		fmt.Fprintf(o.Scan.Err, "warning: %s; a run needs --allow-in-use\n", wording.List(inUse, 3))
	}
	warnOfUnusedAcceptGaps(o, now.Plan)
	warnOfRefusedWrites(ctx, o.Scan, now)
}

func refuseIncomplete(o *MutatingOptions) error {
	return Refuse(o.Scan.Streams, ExitIncomplete, "the scan is incomplete; refused because of --strict: nothing was changed", "")
}

// tryOut sends every step to the API server as a dry run.
func tryOut(ctx context.Context, j Job, now Planned) error {
	r := newOutcome(j, now.Plan)
	r.blocked = now.Plan.Blocked
	r.done = carryOut(ctx, j, now, nil)
	r.facts.interrupted = r.done.Interrupted
	return report(r)
}

// reportNothingToDo ends a command whose plan has no steps. Its scan verifies that nothing is left.
func reportNothingToDo(j Job, p *plan.Plan) error {
	r := newOutcome(j, p)
	r.blocked, r.facts.verification = p.Blocked, verifiedBy(r.facts.complete)
	if !r.facts.complete {
		fmt.Fprintln(j.Options.Scan.Err, "warning: the scan was incomplete, so there may be more to do than it could find")
	}
	return report(r)
}

// planAgain scans and plans once more after the user has confirmed a plan, and returns an error if the new one
// differs. The new plan is the one to carry out: it is bound to the current state of the objects.
func planAgain(ctx context.Context, j Job, confirmed Planned) (Planned, error) {
	seen, err := Scan(ctx, j)
	if err != nil {
		return Planned{}, err
	}
	seen.Snapshot.Answers = confirmed.Snapshot.Answers.StillHold(confirmed.Snapshot, seen.Snapshot)
	now, err := Plan(ctx, j, seen)
	switch {
	case err != nil:
		return Planned{}, err
	case j.Options.Scan.Strict && !now.Plan.CompleteButAccepted():
		return Planned{}, refuseIncomplete(j.Options)
	case now.Plan.Digest() != confirmed.Plan.Digest():
		return Planned{}, Refuse(j.Options.Scan.Streams, ExitUnconfirmed, "the cluster changed while you were reading, and the plan would be different now: nothing was changed", "preview it again: "+j.Options.rerunCommand())
	}
	return now, nil
}

// apply opens the backup, carries out the plan, verifies the result and reports it.
func apply(ctx context.Context, j Job, now Planned, clusterUID types.UID, denied []object.Identity) error {
	o, r := j.Options, newOutcome(j, now.Plan)
	r.denied = denied
	running, cancel := withTimeout(ctx, o.runTimeout)
	defer cancel()
	signal.Ignore(syscall.SIGPIPE) // a run continues when nobody reads its output any more
	var b *RunBackup
	if !o.NoBackup {
		var err error
		if b, err = NewRunBackup(o, BackupPlace{ClusterUID: clusterUID}, now.Cluster, now.Snapshot, now.Plan); err != nil {
			return err
		}
		r.backup, r.unidentified = b.folder.Path(), b.unidentified
	}
	if !o.ForPerson() && !o.Prompts() { // neither a preview nor a question has named the cluster
		fmt.Fprintln(o.Scan.Err, "running the plan"+o.place(now.Plan))
	}
	begun := o.Scan.Now()
	r.done = carryOut(running, j, now, b)
	r.took = o.Scan.Now().Sub(begun)
	r.gone = len(r.done.Gone)
	r.facts.unrecorded = r.done.Unrecorded != nil
	if err := closeBackup(b, !r.done.Interrupted); err != nil {
		r.facts.unrecorded = true
		fmt.Fprintf(o.Scan.Err, "warning: close the backup: %s\n", escape.Short(err.Error(), 2000))
	}
	if now.Plan.Mode.Cascades() {
		r.blocked = now.Plan.Refused() // a plan of what remains does not know what was requested
	}
	r.facts.timedOut = ctx.Err() == nil && r.done.Interrupted
	if ctx.Err() == nil && !j.SkipVerification {
		verify(ctx, &r, now)
	}
	r.facts.interrupted = ctx.Err() != nil
	return report(r)
}

func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// carryOut carries out the plan, with a backup unless b is nil. If it leaves the rest to the cluster's own garbage
// collector, it waits for that, and explains a stall.
func carryOut(ctx context.Context, j Job, now Planned, b *RunBackup) *execute.RunResult {
	s := j.Options.Scan
	progress := &progressLine{scan: s, line: planview.NewProgress(now.Plan), begun: s.Now(), on: s.ErrTerm}
	defer progress.clear()
	o := j.Options.ExecuteOptions()
	o.DryRun = j.Options.DryRun == dryRunServer
	o.OnEvent = func(e event.Event) {
		progress.observe(e)
		if j.Options.JSONLines() {
			_ = s.WriteLine(e) // a broken pipe must not stop a run halfway
		}
	}
	o.OnUnrecorded = func(err error) {
		progress.note(fmt.Sprintf("error: %s: no further step is started\n", escape.Short(err.Error(), 2000)))
	}
	if j.Recreate != nil {
		return j.Recreate(ctx, now, o)
	}
	var writer planrun.BackupWriter // a nil *RunBackup in the interface would not equal nil
	if b != nil {
		writer, o.Record = b, b.Record
	}
	w := write.New(now.Cluster, now.Snapshot, o.DryRun)
	if !j.LeavesRestToCollector || j.SkipVerification || o.DryRun {
		return planrun.Run(ctx, now.Plan, now.Judge, w, writer, planrun.RunOptions{Common: o, RequestedOnly: j.LeavesRestToCollector})
	}
	watchdog := startWatchdog(ctx, func(ctx context.Context) { explainStall(ctx, j, now, progress) })
	defer watchdog.stop()
	onEvent := o.OnEvent
	o.OnEvent = func(e event.Event) {
		watchdog.observe(e)
		onEvent(e)
	}
	return planrun.Run(ctx, now.Plan, now.Judge, w, writer, planrun.RunOptions{Common: o, RequestedOnly: true, Watcher: w})
}

// verify scans the cluster after the run, with the same time limit as the run, and adds what is left.
func verify(ctx context.Context, r *runOutcome, done Planned) {
	o := r.job.Options
	scanning, cancel := withTimeout(ctx, o.runTimeout)
	defer cancel()
	after, blocked, err := remaining(scanning, r.job, done)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		r.facts.verification, r.blocked = verifiedFailed, r.plan.Blocked
		fmt.Fprintf(o.Scan.Err, "warning: the scan after the run failed, so more may be left: %s\n", escape.Short(err.Error(), 2000))
		return
	}
	complete := after.Plan.CompleteButAccepted()
	r.facts.verification, r.gaps = verifiedBy(complete), after.Plan.Gaps
	r.gone, r.broken = countGone(r.plan, r.done, after.Graph()), broken(r.plan, r.done, after.Graph())
	r.left, r.blocked = after.Plan, slices.Concat(r.blocked, blocked, deletedButPresent(r.plan, r.done, after.Graph()))
	r.facts.left = len(after.Plan.Steps)
	if !complete {
		if !slices.EqualFunc(after.Plan.Gaps, r.plan.Gaps, snapshot.Gap.Equal) {
			o.Scan.WarnOfClusterGaps("", after.Snapshot.Gaps, after.Snapshot.MonitoredTypes())
		}
		fmt.Fprintln(o.Scan.Err, "warning: the scan after the run was incomplete, so more may be left than it could find")
	}
	o.Scan.WarnOfWebhooks(refusedEndings(ctx, r.plan, after))
	if r.job.LeavesRestToCollector && r.facts.left > 0 {
		fmt.Fprintln(o.Scan.Err, "warning: "+idleWarning(r.facts.left, suggestCollect(o, r.left)))
	}
}

// remaining scans the cluster and returns the plan of what a run of done has left to do, and what is
// blocked: according to that plan, and of the deletions that the run started.
func remaining(ctx context.Context, j Job, done Planned) (Planned, []plan.Blocked, error) {
	seen, err := Scan(ctx, j)
	if err != nil {
		return Planned{}, nil, err
	}
	seen.Snapshot.Answers = done.Snapshot.Answers.StillHold(done.Snapshot, seen.Snapshot)
	left, err := j.Remaining(ctx, done.Plan, seen)
	if err != nil {
		return Planned{}, nil, err
	}
	known := graph.NewSet(seen.Graph())
	for _, b := range left.Blocked {
		known.Add(seen.Graph().Find(b.Object.UID))
	}
	return Planned{seen, left}, append(left.Blocked, stillTerminating(j, done.Plan, seen.Judge, known)...), nil
}

// refusedEndings returns what the API server refuses by dry run of what ends the deletions of a run.
func refusedEndings(ctx context.Context, running *plan.Plan, now Planned) []reason.WebhookRefuses {
	deleted := map[types.UID]bool{}
	for _, o := range running.Outcomes {
		deleted[o.Object.UID] = true
	}
	endings := now.Snapshot.Endings(func(o *object.Object) bool { return o.Terminating() && deleted[o.UID] })
	return health.Refusals(ctx, now.Cluster, now.Snapshot, endings)
}

// countGone returns how many objects that the plan deletes are gone: the run or a list after it has
// shown that.
func countGone(p *plan.Plan, done *execute.RunResult, after *graph.Graph) int {
	gone := 0
	for _, lost := range p.LostObjects {
		if isGone(lost.Object, done, after) {
			gone++
		}
	}
	return gone
}

func isGone(o object.Identity, done *execute.RunResult, after *graph.Graph) bool {
	m, served := after.View().Map(o.APIVersion, o.Kind)
	absent := served && after.Object(after.Find(o.UID)) == nil && after.View().Listed(m.Type.GroupResource(), o.Namespace)
	return absent || done.Gone[o.UID]
}

// broken returns what the run has taken from users that are left.
func broken(p *plan.Plan, done *execute.RunResult, after *graph.Graph) []plan.Breakage {
	var out []plan.Breakage
	for _, b := range p.Breaks() {
		b.UsedBy = slices.DeleteFunc(slices.Clone(b.UsedBy), func(u reason.User) bool { return isGone(u.Identity, done, after) })
		if isGone(b.Object, done, after) && b.Any() {
			out = append(out, b)
		}
	}
	return out
}

// deletedButPresent returns the objects that a step deleted successfully and that exist
// all the same, not even terminating.
func deletedButPresent(p *plan.Plan, done *execute.RunResult, after *graph.Graph) []plan.Blocked {
	var out []plan.Blocked
	for i, result := range done.Results {
		s := &p.Steps[i]
		if s.Action != plan.ActionDelete || result.Status != event.Done {
			continue
		}
		if now := after.Object(after.Find(s.Object.UID)); now != nil && !now.Terminating() {
			out = append(out, plan.Blocked{Object: s.Object.Identity, By: []object.Identity{}, Reason: reason.DeletionWithoutEffect})
		}
	}
	return out
}

// stillTerminating returns the objects that a run of done has deleted and that still exist,
// except the known ones, and adds them to known. Objects that
// kube-controller-manager deletes because their Node is gone are left out.
func stillTerminating(j Job, done *plan.Plan, after *collector.Judge, known graph.Set) []plan.Blocked {
	g := after.Graph()
	collects := simulate.Own.Accepting(j.Options.AcceptedGaps)
	if j.LeavesRestToCollector {
		collects = simulate.Cluster
	}
	holds := terminating.New(simulate.NewModel(after, collects), func() *simulate.Model { return simulate.Run(after, collects, simulate.Bounds{}).Model })
	var out []plan.Blocked
	for _, o := range done.Outcomes {
		n := g.Find(o.Object.UID)
		if now := g.Object(n); now != nil && now.Terminating() && !o.AfterNode() && known.Add(n) {
			out = append(out, plan.BlockedBy(holds.Of(n)))
		}
	}
	return out
}
