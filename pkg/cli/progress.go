package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
)

// progressLine shows the progress of a run on standard error, if that is a terminal. It is
// safe for concurrent use.
type progressLine struct {
	scan  *ScanOptions
	mu    sync.Mutex
	line  *planview.Progress
	begun time.Time
	drawn time.Time
	on    bool
}

// progressInterval is how long a progress line is shown before it is replaced.
const progressInterval = 100 * time.Millisecond

func (p *progressLine) observe(e event.Event) {
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

func (p *progressLine) clear() { p.note("") }

// note replaces the progress by these lines.
func (p *progressLine) note(lines string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on {
		lines = "\r\x1b[K" + lines
	}
	fmt.Fprint(p.scan.Err, lines)
}
