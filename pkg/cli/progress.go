package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
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

// stallAfter is how long nothing may happen before the stall is explained. A working garbage
// collector needs less than a second for a step, and a Pod mostly 30 to stop.
const stallAfter = 15 * time.Second

// stallWatchdog notices when a run makes no progress.
type stallWatchdog struct {
	quiet      *time.Timer
	cancel     context.CancelFunc
	explaining sync.Mutex
}

// startWatchdog calls explain once each time that there is no progress for stallAfter.
func startWatchdog(ctx context.Context, explain func(context.Context)) *stallWatchdog {
	ctx, cancel := context.WithCancel(ctx)
	w := &stallWatchdog{cancel: cancel}
	w.quiet = time.AfterFunc(stallAfter, func() {
		w.explaining.Lock()
		defer w.explaining.Unlock()
		if ctx.Err() == nil {
			explain(ctx)
		}
	})
	return w
}

// observe records an event as progress, unless it says that the run waits.
func (w *stallWatchdog) observe(e event.Event) {
	if e.Event != event.Waiting {
		w.quiet.Reset(stallAfter)
	}
}

// stop stops the watchdog, and returns when explain is not running any more.
func (w *stallWatchdog) stop() {
	w.cancel()
	w.quiet.Stop()
	w.explaining.Lock()
	defer w.explaining.Unlock()
}

// explainStall prints what blocks the deletions that the cluster's own garbage collector
// has to complete.
func explainStall(ctx context.Context, j Job, running Planned, progress *progressLine) {
	now, blocked, err := remaining(ctx, j, running)
	if err != nil {
		return // the explanation is optional
	}
	var lines []string
	for i, b := range blocked {
		if i == maxNamedLeft {
			lines = append(lines, fmt.Sprintf("… and %d more", len(blocked)-maxNamedLeft))
			break
		}
		lines = append(lines, fmt.Sprintf("%s %s", escape.Short(b.Object.String(), 200), escape.Short(b.Reason.Message(), 600)))
	}
	if idle := len(now.Plan.Steps); idle > 0 {
		lines = append(lines, idleWarning(idle, suggestCollect(j.Options, now.Plan)))
	}
	for _, r := range refusedEndings(ctx, running.Plan, now) {
		lines = append(lines, escape.Sentence(r.Message()))
	}
	if len(lines) > 0 {
		progress.note("no progress for a while:\n  " + strings.Join(lines, "\n  ") + "\n")
	}
}

// idleWarning warns that the cluster's own garbage collector does not do its work.
func idleWarning(idle int, collect string) string {
	return fmt.Sprintf("the cluster's garbage collector has not processed %s yet: check that kube-controller-manager runs, or preview its work: %s", wording.Count(idle, "object"), collect)
}
