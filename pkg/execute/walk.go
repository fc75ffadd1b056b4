package execute

import (
	"context"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// walker takes the steps of a plan in their order, several at once, and notes how
// each ended. What a step is, it does not know.
type walker struct {
	plan    *plan.Plan
	options Options
	do      func(ctx context.Context, i int) *end // the i-th step

	slots  chan struct{} // one is held by every step that is worked on
	tell   teller
	report *Report
	cut    atomic.Bool // the context ended before a step was over
}

func newWalker(p *plan.Plan, o Options) *walker {
	return &walker{
		plan: p, options: o,
		slots: make(chan struct{}, o.Concurrency), tell: teller{tell: o.Tell},
		report: &Report{Results: make([]Result, len(p.Steps))},
	}
}

// walk takes every step when all that it comes after are over. It is linear in
// steps and in what they come after.
func (r *walker) walk(ctx context.Context) {
	waiting, successors := r.order()
	var ready []int
	for i, n := range waiting {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	begun := make([]bool, len(waiting))
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
	byID := make(map[string]int, len(steps))
	for i := range steps {
		byID[steps[i].ID] = i
	}
	for i := range steps {
		waiting[i] = len(steps[i].After)
		for _, id := range steps[i].After {
			if before, known := byID[id]; known {
				successors[before] = append(successors[before], i)
			}
		}
	}
	return waiting, successors
}

// take works on a step, holding a slot.
func (r *walker) take(ctx context.Context, i int) {
	step := &r.plan.Steps[i]
	r.tell.of(step, event.Started, "", "")
	r.end(i, r.do(ctx, i))
}

func (r *walker) unbegun(ctx context.Context) *end {
	if ctx.Err() != nil {
		return r.interrupted()
	}
	return failed("it comes after a step that is never over")
}

func (r *walker) end(i int, e *end) {
	step := &r.plan.Steps[i]
	r.report.Results[i] = Result{Step: step.ID, Status: e.status, Message: e.message}
	r.tell.of(step, event.Ended, e.status, e.message)
}

// unslotted lets another step be worked on while this one waits.
func (r *walker) unslotted(wait func()) {
	<-r.slots
	wait()
	r.slots <- struct{}{}
}
