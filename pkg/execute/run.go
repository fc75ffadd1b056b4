package execute

import (
	"context"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Options tune a run. The zero value is usable.
type Options struct {
	// Concurrency is how many steps are worked on at once; below 1: one. Steps
	// that wait for others to let an object go do not count.
	Concurrency int
	// RequireUnchanged refuses everything that others changed since the plan was made, where
	// otherwise the collector decides again; and every step that is not the very
	// same as was planned.
	RequireUnchanged bool
	// DryRun rehearses: the Server is one that changes nothing, so every step is
	// sent on the state that the plan was made from, in no order, and nothing is
	// saved, counted or waited for.
	DryRun bool
	// RequestedOnly has this run do no steps but those that were asked for. The others are the
	// cluster's, whose own collector comes to them meanwhile; what they delete is
	// saved all the same.
	RequestedOnly bool
	// Watcher sees what the cluster does of that, and is waited for. Nil: those steps
	// have no result.
	Watcher Watcher
	// Ready returns why no further step may begin, for instance because the run cannot
	// note what it does; steps that have begun end as they would. It is asked before the
	// first write of each step, and may be nil.
	Ready func() error
	// OnEvent is told of every event, one at a time, and holds the run up meanwhile.
	// It may be nil.
	OnEvent func(event.Event)
}

// Report is what came of a run.
type Report struct {
	Results []Result // one per step of the plan, in its order
	// Counts of steps: those done that delete, those done that change, and the
	// others.
	Deleted, Changed, Skipped, Failed int
	// Interrupted says that the context ended before every step was over.
	Interrupted bool
}

// Result is how a step ended.
type Result struct {
	Step   string        // the plan's id of it
	Status event.Status  // empty: not of this run, see Options.Asked
	Reason reason.Reason // nil where the step was done as planned, and where it is not of this run
}

// Run does what the plan says and answers when every step is over. The plan must
// be made, or renewed, from g; neither is changed. A nil Keeper saves nothing.
//
// When the context ends no further write begins; those under way are seen to
// their end by the Server. Steps that were not
// begun are skipped. There is no error: whatever happens is in the report.
func Run(ctx context.Context, p *plan.Plan, g *graph.Graph, s Server, k BackupWriter, o Options) *Report {
	o.Concurrency = max(o.Concurrency, 1)
	if o.DryRun {
		k = nil
	}
	r := &run{
		walker: newWalker(p, o), graph: g, server: s, keeper: k,
		live:     newMirror(g, p.AcceptedGaps),
		contents: alongOf(g, p), goes: graph.NewSet(g), leaves: graph.NewSet(g), unsaved: map[graph.Node]error{},
		waiters: onlookers{waiting: map[graph.Node][]*waiter{}}, last: map[graph.Node]int{},
	}
	r.do = r.perform
	for _, o := range p.Outcomes {
		n := g.Find(o.Object.UID)
		if n != graph.None && o.State == plan.Deleted {
			r.goes.Add(n)
		}
		if n != graph.None && o.State != plan.Changed {
			r.leaves.Add(n)
		}
	}
	for i := range p.Steps {
		r.last[g.Find(p.Steps[i].Object.UID)] = i
	}
	r.sights = flights[graph.Node, sight]{take: r.read}
	r.censuses = flights[struct{}, *relistResult]{take: r.relist}
	if k != nil {
		r.saveAll(ctx)
	}
	if r.watches() {
		defer r.follow(ctx)()
	}
	r.walk(ctx)
	r.count()
	return r.report
}

type run struct {
	*walker
	graph  *graph.Graph
	server Server
	keeper BackupWriter

	live     *liveModel
	goes     graph.Set // the nodes that are foretold to be gone in the end
	leaves   graph.Set // these, and those that are foretold to be terminating
	keeping  sync.Mutex
	unsaved  map[graph.Node]error
	sights   flights[graph.Node, sight]
	censuses flights[struct{}, *relistResult]
	contents *contentsOf

	waiters onlookers
	last    map[graph.Node]int // per object, the last step on it
}

// perform does a step of what the collector does.
func (r *run) perform(ctx context.Context, i int) *end {
	step := &r.plan.Steps[i]
	switch {
	case step.Move == nil:
		return failed(reason.PlanNotRevalidated{})
	case r.options.DryRun:
		return r.dryRun(ctx, step)
	}
	t := &task{run: r, step: step, index: i, node: step.Move.Node}
	return t.take(ctx)
}

func (r *walker) count() {
	r.report.Interrupted = r.cut.Load()
	for i, result := range r.report.Results {
		switch {
		case result.Status == "": // the cluster's
		case result.Status == event.Skipped:
			r.report.Skipped++
		case result.Status == event.Failed:
			r.report.Failed++
		case r.plan.Steps[i].Action == collector.ActionDelete:
			r.report.Deleted++
		default:
			r.report.Changed++
		}
	}
}
