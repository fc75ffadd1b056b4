// Package planrun carries out a plan.
//
// A run keeps a live model: the collector's model of the graph that the plan was made
// from, updated with the server's answers and with what is read again. Before every step
// it asks the model whether the step is still what the collector would do, and skips the
// step if not. So the consequences of a failed step are skipped too.
//
// Every write has the UID and resourceVersion that its decision rests on as
// preconditions. After a conflict the object is read and decided again; what cannot be
// read is unknown, and the step is not done. An object is backed up in its latest state
// before it is deleted or repaired.
//
// The rules are not here: package collector decides about garbage, package repair about
// references.
package planrun

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/internal/runner"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// RunOptions tune the run of a plan. The zero value is usable.
type RunOptions struct {
	Common execute.Tuning
	// RequestedOnly leaves all steps but the requested ones to the cluster's own
	// collector. What that deletes is backed up all the same.
	RequestedOnly bool
	// Watcher lets a RequestedOnly run wait for the other steps. If it is nil, they
	// have no result.
	Watcher Watcher
	// NoWait ends a step when its write is done, although a grace period or the deletion of
	// contents may take longer. Steps that depend on the end of that are skipped. A step on an
	// object that keeps changing fails after few attempts.
	NoWait bool
}

// Run carries out the plan and returns when every step has ended. The plan must have
// been made from the graph of j; neither is changed. If b is nil, nothing is
// backed up.
//
// When the context ends no further write begins, and the Server completes those in
// flight. Steps that have not begun are skipped. All errors are in the report.
func Run(ctx context.Context, p *plan.Plan, j *collector.Judge, s Server, b BackupWriter, o RunOptions) *execute.RunResult {
	if o.Common.DryRun {
		b = nil
	}
	g := j.Graph()
	r := &run{
		backingUp: semaphore.NewWeighted(1),
		plan:      p, graph: g, options: o, server: s, backup: b, live: newLiveModel(j, p.AcceptedGaps),
		expectedGone: graph.NewSet(g), expectedLeaving: graph.NewSet(g), repaired: map[graph.Node]bool{},
		waiters: map[graph.Node]chan struct{}{}, lastStep: map[graph.Node]int{}, backupErrors: map[graph.Node]error{},
	}
	r.runner = runner.New(p, o.Common, r.ownership)
	r.contents = newContents(g, p, r.runner.Index)
	for _, o := range p.Outcomes {
		n := g.Find(o.Object.UID)
		if o.State == plan.Deleted && o.When != plan.Later {
			r.expectedGone.Add(n)
		}
		if o.State.Deletes() || o.MayBeDeleted {
			r.expectedLeaving.Add(n)
		}
	}
	for _, o := range p.KeptByAdmission {
		r.expectedLeaving.Add(g.Find(o.UID))
	}
	for i := range p.Steps {
		step := &p.Steps[i]
		n := g.Find(step.Object.UID)
		r.lastStep[n] = i
		if step.IsRepair() {
			r.repaired[n] = true
		}
	}
	r.reads = freshGroup[graph.Node, observation]{call: r.read}
	r.relists = freshGroup[struct{}, *simulate.Model]{call: r.relist}
	if b != nil {
		r.backUpAll(ctx)
	}
	if r.watches() {
		defer r.follow(ctx)()
	}
	report := r.runner.Run(ctx, r.perform)
	report.Gone = map[types.UID]bool{}
	for _, lost := range p.LostObjects {
		if n := g.Find(lost.Object.UID); g.Object(n) != nil && r.live.object(n) == nil {
			report.Gone[lost.Object.UID] = true
		}
	}
	return report
}

type run struct {
	runner  *runner.Runner
	plan    *plan.Plan
	graph   *graph.Graph
	options RunOptions
	server  Server
	live    *liveModel

	contents        *contents
	expectedGone    graph.Set           // what the plan expects to be deleted in the end
	expectedLeaving graph.Set           // that, what it expects to be terminating, and what another order or answer deletes
	repaired        map[graph.Node]bool // what the plan repairs
	lastStep        map[graph.Node]int  // by object

	backup       BackupWriter        // nil: nothing is backed up
	backingUp    *semaphore.Weighted // held during a call of backup
	backupErrors map[graph.Node]error

	reads   freshGroup[graph.Node, observation]
	relists freshGroup[struct{}, *simulate.Model]

	waitersMu sync.Mutex
	waiters   map[graph.Node]chan struct{} // closed when the object has changed
}

func (r *run) ownership(i int) runner.Ownership {
	switch {
	case !r.options.RequestedOnly || r.plan.Steps[i].Requested:
		return runner.Own
	case r.watches():
		return runner.Watched
	}
	return runner.Ignored
}

// watches reports whether the run waits for what the cluster does.
func (r *run) watches() bool {
	return r.options.RequestedOnly && r.options.Watcher != nil && !r.options.Common.DryRun
}

func (r *run) perform(ctx context.Context, i int) *event.Result {
	step := &r.plan.Steps[i]
	if r.options.Common.DryRun {
		return r.dryRun(ctx, step)
	}
	t := &task{run: r, step: step, index: i, node: step.Transition().Node}
	if r.ownership(i) != runner.Own {
		return t.waitForCollector(ctx)
	}
	out := t.perform(ctx)
	if out.Status == event.Done && r.watches() {
		return t.waitForGone(ctx)
	}
	return out
}
