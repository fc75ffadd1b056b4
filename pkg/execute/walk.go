package execute

import (
	"context"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// walker takes the steps of a plan in their order, several at once, and notes how
// each ended. What a step is, it does not know.
type walker struct {
	plan    *plan.Plan
	options Options
	do      func(ctx context.Context, i int) *end // the i-th step
	ids     map[string]int                        // per id of a step, its place

	slots  chan struct{} // one is held by every step that is worked on
	tell   teller
	report *Report
	cut    atomic.Bool // the context ended before a step was over
}

func newWalker(p *plan.Plan, o Options) *walker {
	w := &walker{
		plan: p, options: o, ids: make(map[string]int, len(p.Steps)),
		slots: make(chan struct{}, o.Concurrency), tell: teller{tell: o.OnEvent},
		report: &Report{Results: make([]Result, len(p.Steps))},
	}
	for i := range p.Steps {
		w.ids[p.Steps[i].ID] = i
	}
	return w
}

// walk takes every step when all that it comes after are over. It is linear in
// steps and in what they come after.
func (r *walker) walk(ctx context.Context) {
	waiting, successors := r.order()
	begun := make([]bool, len(waiting))
	var ready []int
	for i, n := range waiting {
		switch {
		case r.ignores(i):
			begun[i] = true
			r.report.Results[i].Step = r.plan.Steps[i].ID
		case n == 0:
			ready = append(ready, i)
		}
	}
	over := make(chan int)
	done := ctx.Done()
	for flying := 0; flying > 0 || len(ready) > 0; {
		var free chan<- struct{}
		if len(ready) > 0 {
			free = r.slots
		}
		select {
		case free <- struct{}{}:
			if ctx.Err() != nil {
				<-r.slots
				ready, done = nil, nil
				continue
			}
			i := ready[0]
			ready, begun[i], flying = ready[1:], true, flying+1
			go func() {
				r.take(ctx, i)
				<-r.slots
				over <- i
			}()
		case i := <-over:
			flying--
			for _, next := range successors[i] {
				if waiting[next]--; waiting[next] == 0 {
					ready = append(ready, next)
				}
			}
		case <-done:
			ready, done = nil, nil
		}
	}
	for i := range begun {
		if !begun[i] {
			r.end(i, r.unbegun(ctx))
		}
	}
}

// order counts for each step what it comes after, and lists what comes after it.
// A rehearsal has no order.
func (r *walker) order() (waiting []int, successors [][]int) {
	steps := r.plan.Steps
	waiting, successors = make([]int, len(steps)), make([][]int, len(steps))
	if r.options.DryRun {
		return waiting, successors
	}
	for i := range steps {
		if r.ignores(i) {
			continue
		}
		for _, id := range steps[i].After {
			before, known := r.ids[id]
			if known && r.mine(i) && !r.mine(before) {
				continue
			}
			waiting[i]++
			if known {
				successors[before] = append(successors[before], i)
			}
		}
	}
	return waiting, successors
}

// mine says whether this run does a step itself.
func (r *walker) mine(i int) bool { return !r.options.RequestedOnly || r.plan.Steps[i].Requested }

// ignores says whether a step is the cluster's, and not waited for.
func (r *walker) ignores(i int) bool { return !r.mine(i) && !r.watches() }

// watches says whether this run waits for what the cluster does.
func (r *walker) watches() bool {
	return r.options.RequestedOnly && r.options.Watcher != nil && !r.options.DryRun
}

// take works on a step, holding a slot.
func (r *walker) take(ctx context.Context, i int) {
	step := &r.plan.Steps[i]
	r.tell.of(step, event.Started, "", nil)
	if r.mine(i) {
		if e := r.unready(); e != nil {
			r.end(i, e)
			return
		}
	}
	r.end(i, r.do(ctx, i))
}

// unready ends a step that may not begin any more. Nil: it may.
func (r *walker) unready() *end {
	if r.options.Ready == nil || r.options.DryRun {
		return nil
	}
	if err := r.options.Ready(); err != nil {
		return failed(reason.RecordFailed{Failure: failureOf(err)})
	}
	return nil
}

func (r *walker) unbegun(ctx context.Context) *end {
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	return failed(reason.PrecedingStepNeverEnds{})
}

func (r *walker) end(i int, e *end) {
	step := &r.plan.Steps[i]
	r.report.Results[i] = Result{Step: step.ID, Status: e.status, Reason: e.reason}
	r.tell.of(step, event.Ended, e.status, e.reason)
}

// unslotted lets another step be worked on while this one waits.
func (r *walker) unslotted(wait func()) {
	<-r.slots
	wait()
	r.slots <- struct{}{}
}
