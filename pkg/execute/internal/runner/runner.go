// Package runner performs the steps of a plan in their order, several at once, and
// reports how each ended. It does not know what a step does.
package runner

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MaxAttempts bounds how often a step is tried on an object that keeps changing. It is
// high enough that unrelated changes of a busy object do not starve the step.
const MaxAttempts = 20

// Ownership tells who performs a step.
type Ownership int

// The values of Ownership.
const (
	Own     Ownership = iota // this run performs the step
	Watched                  // the cluster performs the step, and this run waits for it
	Ignored                  // the cluster performs the step, and this run does not wait
)

// Runner performs the steps of one plan, once.
type Runner struct {
	plan      *plan.Plan
	options   execute.Tuning
	ownership func(i int) Ownership
	perform   func(ctx context.Context, i int) *event.Result
	indices   map[string]int // by step ID

	slots       chan struct{} // every step in progress holds one, unless it waits
	eventMu     sync.Mutex
	report      *execute.RunResult
	interrupted atomic.Bool
	unrecorded  atomic.Pointer[error]
}

// New returns a runner of the steps of p. It calls ownership with the index of a step.
func New(p *plan.Plan, o execute.Tuning, ownership func(i int) Ownership) *Runner {
	r := &Runner{
		plan: p, options: o, ownership: ownership, indices: make(map[string]int, len(p.Steps)),
		slots: make(chan struct{}, max(o.Concurrency, 1)), report: &execute.RunResult{Results: make([]event.Result, len(p.Steps))},
	}
	for i := range p.Steps {
		r.indices[p.Steps[i].ID] = i
	}
	return r
}

// Run calls perform with the index of every step that is not Ignored, when all steps
// that it comes after have ended. It takes time linear in steps and dependencies. Steps
// that have not begun when ctx ends are skipped.
func (r *Runner) Run(ctx context.Context, perform func(ctx context.Context, i int) *event.Result) *execute.RunResult {
	r.perform = perform
	remaining, successors := r.order()
	begun := make([]bool, len(remaining))
	var ready []int
	for i, n := range remaining {
		switch {
		case r.ownership(i) == Ignored:
			begun[i] = true
		case n == 0:
			ready = append(ready, i)
		}
	}
	ended := make(chan int)
	interrupted := ctx.Done()
	for inProgress := 0; inProgress > 0 || len(ready) > 0; {
		var slot chan<- struct{}
		if len(ready) > 0 {
			slot = r.slots
		}
		select {
		case slot <- struct{}{}:
			if ctx.Err() != nil {
				<-r.slots
				ready, interrupted = nil, nil
				continue
			}
			i := ready[0]
			ready, begun[i], inProgress = ready[1:], true, inProgress+1
			go func() {
				r.step(ctx, i)
				<-r.slots
				ended <- i
			}()
		case i := <-ended:
			inProgress--
			for _, next := range successors[i] {
				if remaining[next]--; remaining[next] == 0 {
					ready = append(ready, next)
				}
			}
		case <-interrupted:
			ready, interrupted = nil, nil
		}
	}
	for i := range begun {
		switch {
		case begun[i]:
		case ctx.Err() != nil:
			r.end(i, r.Interrupted(ctx))
		default:
			r.end(i, Failed(reason.PrecedingStepNeverEnds))
		}
	}
	r.report.Interrupted = r.interrupted.Load()
	if err := r.unrecorded.Load(); err != nil {
		r.report.Unrecorded = *err
	}
	return r.report
}

// order returns, for each step, the number of steps that it comes after and the steps
// that come after it. A dry run has no order.
func (r *Runner) order() (remaining []int, successors [][]int) {
	steps := r.plan.Steps
	remaining, successors = make([]int, len(steps)), make([][]int, len(steps))
	if r.options.DryRun {
		return remaining, successors
	}
	for i := range steps {
		if r.ownership(i) == Ignored {
			continue
		}
		for _, id := range steps[i].After {
			before, known := r.indices[id]
			if known && r.ownership(i) == Own && r.ownership(before) != Own {
				continue
			}
			remaining[i]++
			if known {
				successors[before] = append(successors[before], i)
			}
		}
	}
	return remaining, successors
}

func (r *Runner) step(ctx context.Context, i int) {
	r.emitStep(&r.plan.Steps[i], event.Started, "", nil)
	var out *event.Result
	if r.ownership(i) == Own {
		out = r.CheckReady()
	}
	if out == nil {
		out = r.perform(ctx, i)
	}
	r.end(i, out)
}

// CheckReady returns the result of a step that may not write, or nil if it may.
func (r *Runner) CheckReady() *event.Result {
	if err := r.unrecorded.Load(); err != nil {
		return Failed(reason.RecordFailed(FailureOf(*err)))
	}
	return nil
}

// SetUnrecorded records that something could not be recorded: no further step begins.
func (r *Runner) SetUnrecorded(err error) {
	if r.unrecorded.CompareAndSwap(nil, &err) && r.options.OnUnrecorded != nil {
		r.options.OnUnrecorded(err)
	}
}

func (r *Runner) end(i int, out *event.Result) {
	step := &r.plan.Steps[i]
	r.report.Results[i] = *out
	r.emitStep(step, event.Ended, out.Status, out.Reason)
}

// Index returns the index of the step with that ID.
func (r *Runner) Index(id string) (i int, ok bool) {
	i, ok = r.indices[id]
	return i, ok
}

// IsDone reports whether a step has ended and was done.
func (r *Runner) IsDone(i int) bool { return r.report.Results[i].Status == event.Done }

// SetInterrupted records that the context ended before a step had ended.
func (r *Runner) SetInterrupted() { r.interrupted.Store(true) }

// WithoutSlot calls wait, and returns its error, while another step may use the slot of
// the current one.
func (r *Runner) WithoutSlot(wait func() error) error {
	<-r.slots
	defer func() { r.slots <- struct{}{} }()
	return wait()
}

// Check calls check, which reads what the next write depends on, and returns its error. Meanwhile another
// step may use this step's slot, unless writes are paced: otherwise many steps would queue for
// their turn with answers that are already old.
func (r *Runner) Check(check func() error) error {
	if r.Paced() {
		return check()
	}
	return r.WithoutSlot(check)
}

// Paced reports whether a write has to wait for its turn.
func (r *Runner) Paced() bool { return r.options.Pace != nil }

// WaitForTurn waits until the next write may be sent. It returns the result of the step if
// the context ends before, and nil otherwise.
func (r *Runner) WaitForTurn(ctx context.Context) *event.Result {
	if r.Paced() && (r.options.Pace(ctx) != nil || ctx.Err() != nil) {
		return r.Interrupted(ctx)
	}
	return nil
}

// Write sends a write about an object. o and err are what s returned for it before. write sends the
// request and returns nil, or a result if there is nothing to send. After a conflict, Write reads
// the object again and repeats.
func (r *Runner) Write(
	ctx context.Context, s execute.Patcher, at object.Identity, o *object.Object, err error, write func(*object.Object) (*event.Result, error),
) *event.Result {
	for attempt := range MaxAttempts {
		switch {
		case ctx.Err() != nil:
			return r.Interrupted(ctx)
		case err != nil:
			return Failed(reason.Of(reason.RereadFailed{Failure: FailureOf(err), Changed: attempt > 0}))
		case o == nil:
			return Skipped(reason.ObjectGone)
		}
		if out := r.WaitForTurn(ctx); out != nil {
			return out
		}
		var out *event.Result
		if out, err = write(o); out != nil {
			return out
		}
		switch class := ClassOf(err); {
		case err == nil:
			return nil
		case class == snapshot.Gone:
			return Skipped(reason.ObjectGone)
		case class != snapshot.Conflict:
			return Failed(reason.WriteFailed(FailureOf(err)))
		}
		o, err = s.Read(ctx, at)
	}
	return Failed(reason.KeepsChanging(MaxAttempts))
}

// Emit passes an event to the options' OnEvent and Record.
func (r *Runner) Emit(e event.Event) {
	r.eventMu.Lock()
	defer r.eventMu.Unlock()
	if r.options.OnEvent != nil {
		r.options.OnEvent(e)
	}
	if e.Event != event.Ended || r.options.Record == nil || r.options.DryRun {
		return
	}
	if err := r.options.Record(e); err != nil {
		r.SetUnrecorded(err)
	}
}

// EmitWaiting emits that a step waits.
func (r *Runner) EmitWaiting(step *plan.Step, why *reason.Reason) {
	r.emitStep(step, event.Waiting, "", why)
}

func (r *Runner) emitStep(step *plan.Step, kind event.Kind, status event.Status, why *reason.Reason) {
	identity := step.Object.Identity
	r.Emit(event.Event{
		Event: kind, Step: step.ID, Action: string(step.Action), Object: &identity, Status: status, Reason: why,
	})
}

// Where a function returns a *event.Result, nil means that the step has not ended.

// Done returns the result of a step that was done; why may be nil.
func Done(why *reason.Reason) *event.Result { return &event.Result{Status: event.Done, Reason: why} }

// Skipped returns the result of a step that is not needed or not right any more.
func Skipped(why *reason.Reason) *event.Result {
	return &event.Result{Status: event.Skipped, Reason: why}
}

// Failed returns the result of a step that could not be done.
func Failed(why *reason.Reason) *event.Result {
	return &event.Result{Status: event.Failed, Reason: why}
}

// Interrupted returns the result of a step that had not written when ctx ended.
func (r *Runner) Interrupted(ctx context.Context) *event.Result {
	r.SetInterrupted()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Skipped(reason.TimedOut)
	}
	return Skipped(reason.Interrupted)
}

// ClassOf returns the class of err, or "" if it is not known.
func ClassOf(err error) snapshot.ErrorClass {
	var classified execute.ClassifiedError
	if errors.As(err, &classified) {
		return classified.Class()
	}
	return ""
}

// FailureOf returns err as a parameter of a reason.
func FailureOf(err error) reason.Failure {
	out := reason.Failure{ErrorClass: string(ClassOf(err)), Detail: err.Error()}
	var hinting interface{ Hint() string }
	if errors.As(err, &hinting) {
		out.Hint = hinting.Hint()
	}
	return out
}
