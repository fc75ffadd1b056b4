package trace

import (
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// correction is what is wrong with the times of a log: the years that are missing, and by how much its clock is behind.
type correction struct {
	years int
	skew  time.Duration
}

func (c correction) of(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.AddDate(c.years, 0, 0).Add(c.skew)
}

// corrections gives a year to the logs that have none, and sets the clocks of logs right by that of the audit
// log: by the deletions that both have. A log that shares none stays as it is, so that nothing in it comes before or
// after what is in others.
func (q *inquiry) corrections() map[string]correction {
	found := map[string][]correction{}
	for i := range q.log {
		l := &q.log[i]
		s := q.byUID[l.Object.UID]
		if l.Says != Deletes || s == nil {
			continue
		}
		if a := slices.IndexFunc(s.asked, func(a asked) bool { return a.by.Role == l.By || l.By == RoleNone && a.by.Role == RoleCollector }); a >= 0 {
			found[l.Place.File] = append(found[l.Place.File], behind(l.Time, s.asked[a].when.time()))
		}
	}
	out := map[string]correction{}
	for file, all := range found {
		slices.SortFunc(all, func(a, b correction) int { return int(a.skew - b.skew) })
		c, s := all[len(all)/2], q.sources[q.file(file)]
		if c.skew.Abs() <= tolerance/2 {
			c.skew = 0
		}
		s.Yearless, s.SharedDeletions, s.ClockBehind = false, len(all), int(c.skew.Seconds())
		s.First, s.Last = c.of(s.First), c.of(s.Last)
		out[file] = c
	}
	return out
}

// behind returns what is wrong with the time of a line about a request.
func behind(line, request time.Time) correction {
	best := correction{skew: request.Sub(line)}
	if reason.HasYear(line) {
		return best
	}
	for years := request.Year() - 2; years <= request.Year()+1; years++ {
		if skew := request.Sub(line.AddDate(years, 0, 0)); skew.Abs() < best.skew.Abs() {
			best = correction{years, skew}
		}
	}
	return best
}
