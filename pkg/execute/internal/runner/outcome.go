package runner

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Outcome tells how a step ended. A function that returns a nil *Outcome has not ended
// the step.
type Outcome struct {
	Status event.Status
	Reason reason.Reason // nil if the step was done as planned
}

// Done returns the outcome of a step that was done; why may be nil.
func Done(why reason.Reason) *Outcome { return &Outcome{event.Done, why} }

// Skipped returns the outcome of a step that is not needed or not right any more.
func Skipped(why reason.Reason) *Outcome { return &Outcome{event.Skipped, why} }

// Failed returns the outcome of a step that could not be done.
func Failed(why reason.Reason) *Outcome { return &Outcome{event.Failed, why} }

// Interrupted returns the outcome of a step that had not written when ctx ended.
func (r *Runner) Interrupted(ctx context.Context) *Outcome {
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
		return classified.Refusal()
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
