package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// progressLine keeps the user at a terminal informed on standard error. It is safe for
// concurrent use.
type progressLine struct {
	scan  *ScanOptions
	mu    sync.Mutex
	line  *planview.Progress
	begun time.Time
	drawn time.Time
	on    bool
}

// progressInterval is how long a progress line stays before it is drawn anew.
const progressInterval = 100 * time.Millisecond

func (s *ScanOptions) progressOf(p *plan.Plan) *progressLine {
	return &progressLine{scan: s, line: planview.NewProgress(p), begun: s.Now(), on: s.ErrTerm}
}

func (p *progressLine) Observe(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Observe(e)
	now := p.scan.Now()
	if !p.on || now.Sub(p.drawn) < progressInterval && e.Event != event.Waiting {
		return
	}
	p.drawn = now
	fmt.Fprint(p.scan.Err, "\r\x1b[K"+p.line.Line(now.Sub(p.begun), p.scan.ErrWidth()))
}

func (p *progressLine) clear() { p.Note("") }

// Note writes lines where the progress was drawn.
func (p *progressLine) Note(lines string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on {
		lines = "\r\x1b[K" + lines
	}
	fmt.Fprint(p.scan.Err, lines)
}

// onEvent is who listens to a run.
func (a *Operation) onEvent(k *runBackup) func(event.Event) {
	return func(e event.Event) {
		a.Progress.Observe(e)
		if a.Options.Output == jsonLines {
			_ = a.Options.Scan.writeLine(e) // a broken pipe must not stop a run halfway
		}
		if k != nil && e.Event == event.Ended {
			if err := k.note(e, a.Options.Scan.Now()); err != nil {
				a.RecordFailure(err)
			}
		}
	}
}
