package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

func TestStallWatchdogExplainsEachStallOnce(t *testing.T) {
	for name, c := range map[string]struct {
		events []time.Duration // after the start
		kind   event.Kind
		want   int // explanations within an hour
	}{
		"there are no events":                 {nil, "", 1},
		"events stop after a while":           {[]time.Duration{time.Second, 10 * time.Second}, event.Ended, 1},
		"events stop, and start again":        {[]time.Duration{time.Second, time.Minute}, event.Started, 2},
		"waiting is no progress":              {[]time.Duration{time.Minute}, event.Waiting, 1},
		"events are frequent enough, and end": {[]time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}, event.Ended, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				explained := 0
				watchdog := startWatchdog(t.Context(), func(context.Context) { explained++ })
				begun := time.Now()
				for _, at := range c.events {
					time.Sleep(at - time.Since(begun))
					watchdog.observe(event.Event{Event: c.kind})
				}
				time.Sleep(time.Hour)
				watchdog.stop()
				if explained != c.want {
					t.Errorf("explained %d times, want %d", explained, c.want)
				}
			})
		})
	}
}

func TestStallWatchdogStopsAnExplanationWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watchdog := startWatchdog(t.Context(), func(ctx context.Context) { <-ctx.Done() })
		time.Sleep(time.Minute)
		watchdog.stop() // returns, and leaves nothing behind
	})
}
