package planview

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Progress is how far a run of a plan has come, by the events it was told of.
// It is not safe for concurrent use.
type Progress struct {
	mode                          string
	total, ended, skipped, failed int

	waiting map[string]string // per step that waits, what for
	queue   []string          // those steps in the order of their coming, and some that have ended since
	saving  bool              // backups are all that happened so far
}

// NewProgress is that of a run which has yet to begin.
func NewProgress(p *plan.Plan) *Progress {
	return &Progress{mode: text(string(p.Mode)), total: len(p.Steps), waiting: map[string]string{}}
}

// Observe takes an event in.
func (p *Progress) Observe(e event.Event) {
	p.saving = e.Event == event.Backup && p.ended == 0
	switch e.Event {
	case event.Waiting:
		if !p.waits(e.Step) {
			p.queue = append(p.queue, e.Step)
		}
		p.waiting[e.Step] = awaited(e.Object, reason.Message(e.Reason))
	case event.Ended:
		delete(p.waiting, e.Step)
		p.ended++
		switch e.Status {
		case event.Skipped:
			p.skipped++
		case event.Failed:
			p.failed++
		case event.Done:
		}
	case event.Backup, event.Started:
	}
}

func (p *Progress) waits(step string) bool {
	_, waits := p.waiting[step]
	return waits
}

func awaited(o *object.Identity, message string) string {
	said := "a step"
	if o != nil {
		said = name(*o)
	}
	if message != "" {
		said += " (" + text(message) + ")"
	}
	return said
}

// Line is the progress after that much time, cut to width columns: never more,
// so that it can be written over itself. Of a width of zero or less nothing is
// known, and nothing is cut.
func (p *Progress) Line(elapsed time.Duration, width int) string {
	size := mostBar
	if width > 0 {
		size = min(size, width/4)
	}
	parts := []string{
		fmt.Sprintf("%s %s  %s/%s", p.mode, p.bar(size), wording.Thousands(p.ended), wording.Thousands(p.total)),
		wording.Thousands(p.failed) + " failed",
	}
	if p.skipped > 0 {
		parts = append(parts, wording.Thousands(p.skipped)+" skipped")
	}
	if rate := p.rate(elapsed); rate != "" {
		parts = append(parts, rate)
	}
	switch {
	case len(p.waiting) > 0:
		parts = append(parts, p.longest())
	case p.saving:
		parts = append(parts, "writing backups")
	}
	return cut(strings.Join(parts, "   "), width)
}

// mostBar is how many blocks a bar has, where there is room.
const mostBar = 20

func (p *Progress) bar(size int) string {
	done := size
	if p.total > 0 {
		done = size * min(p.ended, p.total) / p.total
	}
	return strings.Repeat("█", done) + strings.Repeat("░", size-done)
}

func (p *Progress) rate(elapsed time.Duration) string {
	perSecond := float64(p.ended) / elapsed.Seconds()
	switch {
	case p.ended == 0 || elapsed < time.Second:
		return ""
	case perSecond < 10:
		return fmt.Sprintf("%.1f/s", perSecond)
	}
	return wording.Thousands(int(perSecond)) + "/s"
}

// longest names the step that has waited longest, and counts the others.
func (p *Progress) longest() string {
	for !p.waits(p.queue[0]) {
		p.queue = p.queue[1:]
	}
	said := "waiting for " + p.waiting[p.queue[0]]
	if more := len(p.waiting) - 1; more > 0 {
		said += " and " + wording.Thousands(more) + " more"
	}
	return said
}

// cut is s in at most width columns. What may be a wide character counts as
// one, since a line that is too long would be torn.
func cut(s string, width int) string {
	used, end := 0, 0 // end is where an ellipsis would still fit
	for i, r := range s {
		if used < width {
			end = i
		}
		used++
		if r >= 0x1100 && r <= 0x115f || r >= 0x2e80 {
			used++
		}
		if width > 0 && used > width {
			return s[:end] + "…"
		}
	}
	return s
}
