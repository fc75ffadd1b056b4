package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// progress keeps the user at a terminal informed on standard error. It is safe for
// concurrent use.
type progress struct {
	*source
	mu    sync.Mutex
	line  *planview.Progress
	begun time.Time
	drawn time.Time
	on    bool
}

// often is how long a progress line stays before it is drawn anew.
const often = 100 * time.Millisecond

func (s *source) progressOf(p *plan.Plan) *progress {
	return &progress{source: s, line: planview.NewProgress(p), begun: s.Now(), on: s.ErrTerm}
}

func (p *progress) tell(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Tell(e)
	now := p.Now()
	if !p.on || now.Sub(p.drawn) < often && e.Event != event.Waiting {
		return
	}
	p.drawn = now
	fmt.Fprint(p.Err, "\r\x1b[K"+p.line.Line(now.Sub(p.begun), p.ErrWidth()))
}

func (p *progress) clear() { p.note("") }

// note writes lines where the progress was drawn.
func (p *progress) note(lines string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on {
		lines = "\r\x1b[K" + lines
	}
	fmt.Fprint(p.Err, lines)
}

// telling is who listens to a run.
func (a *act) telling(k *keeper) func(event.Event) {
	return func(e event.Event) {
		a.progress.tell(e)
		if a.output == jsonLines {
			_ = a.writeLine(e) // a broken pipe must not stop a run halfway
		}
		if k != nil && e.Event == event.Ended {
			if err := k.note(e, a.Now()); err != nil {
				a.cannotRecord(err)
			}
		}
	}
}
