package execute

import (
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// teller passes events on, one at a time.
type teller struct {
	mu   sync.Mutex
	tell func(event.Event) // may be nil
}

func (t *teller) say(e event.Event) {
	if t.tell == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(e)
}

func (t *teller) of(step *plan.Step, kind event.Kind, status event.Status, why reason.Reason) {
	identity := step.Object.Identity
	t.say(event.Event{
		Event: kind, Step: step.ID, Action: string(step.Action), Object: &identity, Status: status, Reason: why,
	})
}
