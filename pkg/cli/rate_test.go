package cli

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

func TestRateReadsANumberPerSecond(t *testing.T) {
	for given, want := range map[string]string{"50/s": "50/s", "50": "50/s", "1/s": "1/s", "100000": "100000/s"} {
		var r rate
		if err := r.Set(given); err != nil || r.String() != want {
			t.Errorf("%q: %s, %v", given, &r, err)
		}
	}
	for _, given := range []string{"", "0", "0/s", "-1", "1.5/s", "50/m", "/s", "50/s/s", "many", "100001"} {
		var r rate
		if err := r.Set(given); err == nil || err.Error() != "must be a whole number of writes per second, such as 50/s" {
			t.Errorf("%q: %s, %v", given, &r, err)
		}
	}
	for _, given := range rates {
		var r rate
		if err := r.Set(given); err != nil {
			t.Errorf("%q is offered: %v", given, err)
		}
	}
}

func TestPaceSpacesWritesEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rate(10)
		pace, begun := r.pace(), time.Now()
		var mu sync.Mutex
		sent := map[time.Duration]int{}
		var group sync.WaitGroup
		for range 25 {
			group.Go(func() {
				if err := pace(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				sent[time.Since(begun)]++
			})
		}
		group.Wait()
		for i := range 25 {
			if at := time.Duration(i) * 100 * time.Millisecond; sent[at] != 1 {
				t.Errorf("%d writes after %s", sent[at], at)
			}
		}
		time.Sleep(time.Minute) // in the time of the test
		idle := time.Now()
		for range 2 { // a pause does not allow a burst
			_ = pace(t.Context())
		}
		if took := time.Since(idle); took != 100*time.Millisecond {
			t.Errorf("two writes after a pause took %s", took)
		}
	})
}

func TestPaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rate(1)
		pace := r.pace()
		_ = pace(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := pace(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 300*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
	if r := rate(0); r.pace() != nil {
		t.Error("without a limit, something waits")
	}
}

func TestARunThatTheRateMakesTooLongIsRefused(t *testing.T) {
	steps := make([]plan.Step, 1201)
	steps[0].Requested = true
	for name, c := range map[string]struct {
		rate    rate
		timeout time.Duration
		dryRun  string
		rest    bool
		err     string
		stderr  string
	}{
		"too long":              {2, 5 * time.Minute, DryRunNone, false, "at --rate 2/s, 1,201 writes take at least 10m0s, longer than --timeout allows (5m0s): nothing was changed", ""},
		"just in time":          {2, 10 * time.Minute, DryRunNone, false, "", ""},
		"no time limit":         {1, 0, DryRunNone, false, "", ""},
		"no rate":               {0, time.Second, DryRunNone, false, "", ""},
		"a preview":             {2, 5 * time.Minute, dryRunClient, false, "", "warning: at --rate 2/s, 1,201 writes take at least 10m0s, longer than --timeout allows (5m0s)\n"},
		"the rest by others":    {2, time.Second, DryRunNone, true, "", ""},
		"as fast as they allow": {maxRate, time.Second, DryRunNone, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			options, _, stderr := offline(t)
			options.rate, options.runTimeout, options.DryRun = c.rate, c.timeout, c.dryRun
			err := checkRate(Job{Options: options, LeavesRestToCollector: c.rest}, &plan.Plan{Steps: steps})
			if got := errorText(err); got != c.err {
				t.Errorf("got %q, want %q", got, c.err)
			}
			if stderr.String() != c.stderr {
				t.Errorf("stderr is %q, want %q", stderr, c.stderr)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
