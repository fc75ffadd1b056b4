package execute

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// end is how a step ended. Where one is answered as a pointer, nil means that
// the step goes on.
type end struct {
	status event.Status
	reason reason.Reason // nil: it was done as planned
}

func done(why reason.Reason) *end    { return &end{event.Done, why} }
func skipped(why reason.Reason) *end { return &end{event.Skipped, why} }
func failed(why reason.Reason) *end  { return &end{event.Failed, why} }

// interrupted ends a step whose write was not begun before the context ended.
func (r *walker) interrupted(ctx context.Context) *end {
	r.cut.Store(true)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return skipped(reason.TimedOut{})
	}
	return skipped(reason.Interrupted{})
}

// classOf returns the known cause of an error, or an empty one.
func classOf(err error) snapshot.ErrorClass {
	var refusal Refusal
	if errors.As(err, &refusal) {
		return refusal.Refusal()
	}
	return ""
}

// failureOf returns an error as the parameters of a reason.
func failureOf(err error) reason.Failure {
	out := reason.Failure{ErrorClass: string(classOf(err)), Detail: err.Error()}
	var hinting interface{ Hint() string }
	if errors.As(err, &hinting) {
		out.Hint = hinting.Hint()
	}
	return out
}
