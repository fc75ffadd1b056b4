package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// stallAfter is how long nothing may move before a person is told why. A collector
// that is at work needs less than a second for a step, and a Pod mostly 30 to stop.
const stallAfter = 15 * time.Second

// StallWatchdog looks again when nothing moves, and says what everything waits for.
type StallWatchdog struct {
	moved chan struct{}
	over  chan struct{}
	ended chan struct{}
}

// StartWatchdog has explain called when nothing has moved for a while, and then not again
// before something has.
func StartWatchdog(ctx context.Context, explain func(context.Context)) *StallWatchdog {
	w := &StallWatchdog{make(chan struct{}, 1), make(chan struct{}), make(chan struct{})}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		<-w.over
		cancel()
	}()
	go func() {
		defer close(w.ended)
		quiet := time.NewTimer(stallAfter)
		defer quiet.Stop()
		for {
			select {
			case <-w.over:
				return
			case <-ctx.Done():
				return
			case <-w.moved:
				quiet.Reset(stallAfter)
			case <-quiet.C:
				explain(ctx)
			}
		}
	}()
	return w
}

// Observe takes note that something moves.
func (w *StallWatchdog) Observe(e event.Event) {
	if e.Event == event.Waiting {
		return
	}
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// Stop ends the watch and returns when nothing more is said.
func (w *StallWatchdog) Stop() {
	close(w.over)
	<-w.ended
}

// ExplainStall says what a deletion hangs on that the cluster's own collector was to
// end, and what would help.
func (a *Operation) ExplainStall(ctx context.Context) {
	now, blocked, err := a.remaining(ctx)
	if err != nil {
		return // it is no more than a courtesy
	}
	idle := len(now.Plan.Steps)
	var said []string
	for i, b := range blocked {
		if i == maxNamedLeft {
			said = append(said, fmt.Sprintf("… and %d more", len(blocked)-maxNamedLeft))
			break
		}
		said = append(said, fmt.Sprintf("%s %s", escape.Short(b.Object.String(), 200), escape.Short(b.Reason.Message(), 600)))
	}
	if idle > 0 {
		said = append(said, idleWarning(idle))
	}
	if len(said) > 0 {
		a.Progress.Note("no progress for a while:\n  " + strings.Join(said, "\n  ") + "\n")
	}
}

// idleWarning says that the cluster's own collector does not come to what it should.
func idleWarning(idle int) string {
	return fmt.Sprintf("the cluster's garbage collector has not processed %s yet: check that kube-controller-manager runs, or do its work with: %s collect", wording.Count(idle, "object"), CommandName)
}
