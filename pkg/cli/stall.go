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

// stalled is how long nothing may move before a person is told why. A collector
// that is at work needs less than a second for a step, and a Pod mostly 30 to stop.
const stalled = 15 * time.Second

// watchdog looks again when nothing moves, and says what everything waits for.
type watchdog struct {
	moved chan struct{}
	over  chan struct{}
	ended chan struct{}
}

// watch has explain called when nothing has moved for a while, and then not again
// before something has.
func watch(ctx context.Context, explain func(context.Context)) *watchdog {
	w := &watchdog{make(chan struct{}, 1), make(chan struct{}), make(chan struct{})}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		<-w.over
		cancel()
	}()
	go func() {
		defer close(w.ended)
		quiet := time.NewTimer(stalled)
		defer quiet.Stop()
		for {
			select {
			case <-w.over:
				return
			case <-ctx.Done():
				return
			case <-w.moved:
				quiet.Reset(stalled)
			case <-quiet.C:
				explain(ctx)
			}
		}
	}()
	return w
}

// hear takes note that something moves.
func (w *watchdog) hear(e event.Event) {
	if e.Event == event.Waiting {
		return
	}
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// stop ends the watch and returns when nothing more is said.
func (w *watchdog) stop() {
	close(w.over)
	<-w.ended
}

// explain says what a deletion hangs on that the cluster's own collector was to
// end, and what would help.
func (a *act) explain(ctx context.Context) {
	now, blocked, err := a.remaining(ctx)
	if err != nil {
		return // it is no more than a courtesy
	}
	idle := len(now.plan.Steps)
	var said []string
	for i, b := range blocked {
		if i == mostLeft {
			said = append(said, fmt.Sprintf("… and %d more", len(blocked)-mostLeft))
			break
		}
		said = append(said, fmt.Sprintf("%s %s", escape.Short(b.Object.String(), 200), escape.Short(b.Reason.Message(), 600)))
	}
	if idle > 0 {
		said = append(said, silent(idle))
	}
	if len(said) > 0 {
		a.progress.note("no progress for a while:\n  " + strings.Join(said, "\n  ") + "\n")
	}
}

// silent says that the cluster's own collector does not come to what it should.
func silent(idle int) string {
	return fmt.Sprintf("the cluster's garbage collector has not processed %s yet: check that kube-controller-manager runs, or do its work with: %s collect", wording.Count(idle, "object"), called)
}
