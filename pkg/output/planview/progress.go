package planview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Progress is how far a run of a plan has come, according to its events. It is not safe for
// concurrent use.
type Progress struct {
	mode                          string
	total, ended, skipped, failed int

	waiting []event.Event // of the steps that wait; the one that has waited longest first
	backups bool          // only backups were written so far
}

// NewProgress returns the progress of a run that has not started.
func NewProgress(p *plan.Plan) *Progress {
	return &Progress{mode: escape.Word(string(p.Mode)), total: len(p.Steps)}
}

// Observe takes an event into account.
func (p *Progress) Observe(e event.Event) {
	p.backups = e.Event == event.Backup && p.ended == 0
	isStep := func(w event.Event) bool { return w.Step == e.Step }
	switch e.Event {
	case event.Waiting:
		if i := slices.IndexFunc(p.waiting, isStep); i >= 0 {
			p.waiting[i] = e
		} else {
			p.waiting = append(p.waiting, e)
		}
	case event.Ended:
		p.waiting = slices.DeleteFunc(p.waiting, isStep)
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

// waitsFor returns the object of a step that waits, and what for.
func waitsFor(e event.Event) string {
	text := "a step"
	if e.Object != nil {
		text = name(*e.Object)
	}
	if message := e.Reason.Message(); message != "" {
		text += " (" + escape.Word(message) + ")"
	}
	return text
}

// Line returns the progress after that time in at most width columns, so that the next line
// can overwrite it. A width of zero or less is unknown, and nothing is cut.
func (p *Progress) Line(elapsed time.Duration, width int) string {
	size := maxBar
	if width > 0 {
		size = min(size, width/4)
	}
	now := ""
	switch {
	case len(p.waiting) > 0:
		now = joined(" and ", "waiting for "+waitsFor(p.waiting[0]), some(len(p.waiting)-1, "1 more", "%s more"))
	case p.backups:
		now = "writing backups"
	}
	return cut(joined("   ",
		fmt.Sprintf("%s %s  %s/%s", p.mode, p.bar(size), wording.Thousands(p.ended), wording.Thousands(p.total)),
		wording.Thousands(p.failed)+" failed", some(p.skipped, "1 skipped", "%s skipped"), p.rate(elapsed), now), width)
}

// maxBar is how many blocks a bar has, if there is room.
const maxBar = 20

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

// cut returns s in at most width columns; 0 is no limit.
func cut(s string, width int) string {
	used, end := 0, 0 // end is where an ellipsis would still fit
	for i, r := range s {
		if used < width {
			end = i
		}
		used += wrap.Width(string(r))
		if width > 0 && used > width {
			return s[:end] + "…"
		}
	}
	return s
}
