package cli

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

// Time passes in a bubble: an hour of it takes none.
func TestWhatStandsStillIsExplainedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		moves []time.Duration // after the start
		event event.Kind
		want  int // explanations within an hour
	}{
		"nothing moves":                       {nil, "", 1},
		"it stops to move after a while":      {[]time.Duration{time.Second, 10 * time.Second}, event.Ended, 1},
		"it moves, stops, and moves again":    {[]time.Duration{time.Second, time.Minute}, event.Started, 2},
		"to wait for something is no motion":  {[]time.Duration{time.Minute}, event.Waiting, 1},
		"it moves as often as need be to end": {[]time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}, event.Ended, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said := 0
				dog := StartWatchdog(t.Context(), func(context.Context) { said++ })
				begun := time.Now()
				for _, at := range c.moves {
					time.Sleep(at - time.Since(begun))
					dog.Observe(event.Event{Event: c.event})
				}
				time.Sleep(time.Hour)
				dog.Stop()
				if said != c.want {
					t.Errorf("explained %d times, want %d", said, c.want)
				}
			})
		})
	}
}

func TestAnExplanationEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dog := StartWatchdog(t.Context(), func(ctx context.Context) { <-ctx.Done() })
		time.Sleep(time.Minute)
		dog.Stop() // returns, and leaves nothing behind
	})
}
