package planview_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

func progressAfter(total int, events ...event.Event) *planview.Progress {
	p := planview.NewProgress(&plan.Plan{Mode: plan.Collect, Steps: stepsOf(total, plan.ActionDelete)})
	for _, e := range events {
		p.Observe(e)
	}
	return p
}

func ended(step string, status event.Status) event.Event {
	return event.Event{Event: event.Ended, Step: step, Status: status}
}

func waiting(step, name, message string) event.Event {
	return event.Event{Event: event.Waiting, Step: step, Object: &object.Identity{Kind: "Pod", Name: name}, Reason: saying(message)}
}

func TestProgress(t *testing.T) {
	done := func(n int) []event.Event {
		out := make([]event.Event, n)
		for i := range out {
			out[i] = ended("x", event.Done)
		}
		return out
	}
	for name, c := range map[string]struct {
		progress *planview.Progress
		elapsed  time.Duration
		want     string
	}{
		"at the start":              {progressAfter(3), 0, "collect ░░░░░░░░░░░░░░░░░░░░  0/3   0 failed"},
		"while backups are written": {progressAfter(3, event.Event{Event: event.Backup}), 0, "collect ░░░░░░░░░░░░░░░░░░░░  0/3   0 failed   writing backups"},
		"after the first step, backups are over": {
			progressAfter(3, event.Event{Event: event.Backup}, event.Event{Event: event.Started, Step: "1"}), 0, "collect ░░░░░░░░░░░░░░░░░░░░  0/3   0 failed",
		},
		"a waiting step is named, with the reason": {
			progressAfter(3, ended("1", event.Done), ended("2", event.Done), waiting("3", "redis-exporter-0", "grace period 30s")), 10 * time.Second,
			"collect █████████████░░░░░░░  2/3   0 failed   0.2/s   waiting for Pod/redis-exporter-0 (grace period 30s)",
		},
		"of several the one that has waited longest is named": {
			progressAfter(9, waiting("1", "a", ""), waiting("2", "b", ""), waiting("3", "c", "")), 0,
			"collect ░░░░░░░░░░░░░░░░░░░░  0/9   0 failed   waiting for Pod/a and 2 more",
		},
		"a step that ended does not wait any more": {
			progressAfter(4, waiting("1", "a", ""), waiting("2", "b", ""), ended("1", event.Failed), waiting("2", "b", "held by x/y")), 0,
			"collect █████░░░░░░░░░░░░░░░  1/4   1 failed   waiting for Pod/b (held by x/y)",
		},
		"skipped steps are counted if there are any": {
			progressAfter(2, ended("1", event.Skipped), ended("2", event.Done)), 0, "collect ████████████████████  2/2   0 failed   1 skipped",
		},
		"a fast run has a round rate": {
			progressAfter(48_000, done(12_000)...), 10 * time.Second, "collect █████░░░░░░░░░░░░░░░  12,000/48,000   0 failed   1,200/s",
		},
		"a plan without steps is done": {progressAfter(0), time.Minute, "collect ████████████████████  0/0   0 failed"},
		"a step without an object":     {progressAfter(1, event.Event{Event: event.Waiting}), 0, "collect ░░░░░░░░░░░░░░░░░░░░  0/1   0 failed   waiting for a step"},
		"names and messages are escaped": {
			progressAfter(1, waiting("1", "a\r\x1b[2K", "b\nc")), 0, `collect ░░░░░░░░░░░░░░░░░░░░  0/1   0 failed   waiting for Pod/a\r\x1b[2K (b\nc)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.progress.Line(c.elapsed, 0)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestProgressFitsItsWidth(t *testing.T) {
	narrow := progressAfter(3, ended("1", event.Done), waiting("3", "redis-exporter-0", "grace period 30s"))
	wide := progressAfter(3, waiting("3", strings.Repeat("漢", 100), ""))
	for width, want := range map[int]string{
		200: "collect ██████░░░░░░░░░░░░░░  1/3   0 failed   0.1/s   waiting for Pod/redis-exporter-0 (grace period 30s)",
		60:  "collect █████░░░░░░░░░░  1/3   0 failed   0.1/s   waiting f…",
		20:  "collect █░░░░  1/3 …",
		1:   "…",
	} {
		if diff := cmp.Diff(want, narrow.Line(10*time.Second, width)); diff != "" {
			t.Errorf("width %d (-want +got)\n%s", width, diff)
		}
	}
	for width := 1; width < 300; width++ {
		columns := 0
		for _, r := range wide.Line(0, width) {
			columns++
			if r == '漢' {
				columns++
			}
		}
		if columns > width {
			t.Errorf("%d columns in a width of %d", columns, width)
		}
	}
}

func TestProgressOfManyWaitingSteps(t *testing.T) {
	p := progressAfter(100_000)
	for i := range 100_000 {
		step := strings.Repeat("x", 1+i%7) + time.Duration(i).String()
		p.Observe(waiting(step, "a", ""))
		p.Line(0, 80)
		p.Observe(ended(step, event.Done))
		p.Observe(waiting(step, "a", "")) // again, late
		p.Observe(ended(step, event.Done))
	}
	if got := p.Line(0, 80); strings.Contains(got, "waiting") {
		t.Errorf("got %s", got)
	}
}
