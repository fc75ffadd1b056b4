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
func (r *run) interrupted() *end {
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
	return failed(fmt.Errorf("%s: %w", doing, err).Error())
}
