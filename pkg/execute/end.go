package execute

import (
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// end is how a step ended. Where one is answered as a pointer, nil means that
// the step goes on.
type end struct {
	status  event.Status
	message string
}

func done(message string) *end    { return &end{event.Done, message} }
func skipped(message string) *end { return &end{event.Skipped, message} }
func failed(message string) *end  { return &end{event.Failed, message} }

const changedSince = "it changed since the plan was made"

// interrupted ends a step whose write was not begun before the context ended.
func (r *walker) interrupted() *end {
	r.cut.Store(true)
	return skipped("the run ended before it")
}

// reasonOf is the known cause of an error, or empty.
func reasonOf(err error) snapshot.Reason {
	var refusal Refusal
	if errors.As(err, &refusal) {
		return refusal.Refusal()
	}
	return ""
}

func failing(doing string, err error) *end {
	return failedBy(fmt.Errorf("%s: %w", doing, err))
}

// failedBy is how a step ends with an error: with what a person may do about it,
// where the error knows that.
func failedBy(err error) *end {
	message := err.Error()
	var hinting interface{ Hint() string }
	if errors.As(err, &hinting) && hinting.Hint() != "" {
		message += " (" + hinting.Hint() + ")"
	}
	return failed(message)
}
