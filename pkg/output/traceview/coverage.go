package traceview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// maxSources is the most files that are told of one by one.
const maxSources = 8

// coverage writes what was read, and what the garbage collector did all that time.
func (s *reportWriter) coverage() {
	sources := s.report.Sources
	shown := s.shown(len(sources), maxSources)
	for i := range sources[:shown] {
		s.line("Read %s: %s.", escape.Word(sources[i].File), strings.Join(covers(&sources[i]), "; "))
	}
	if more := len(sources) - shown; more > 0 {
		s.line("Read %s more: -o wide", wording.Count(more, "file"))
	}
	for _, o := range s.report.Outages {
		s.line("The garbage collector did not work from %s to %s: %s.", reason.Clock(o.From), reason.Clock(o.To), escape.Sentence(o.Reason))
	}
	for _, l := range s.report.Loops {
		what, times := escape.Line(l.Object.String()), wording.Thousands(l.Times)
		s.line("The garbage collector looked at %s %s times from %s to %s: a loop.", what, times, reason.Clock(l.From), reason.Clock(l.To))
	}
}

// covers returns what a source speaks of, from when to when, in what detail, and what is wrong with it.
func covers(s *trace.Source) []string {
	parts := []string{escape.Word(s.Form) + period(s)}
	if s.Events > 0 {
		parts = append(parts, writes(s.Resources), levels(s.Levels))
	}
	switch {
	case s.Form != trace.FormManagerLog:
	case s.Verbosity < 2:
		parts = append(parts, "nothing about what its garbage collector deletes, which takes --v=2, and --v=5 for the reasons")
	default:
		parts = append(parts, fmt.Sprintf("--v=%d or more", s.Verbosity))
	}
	if s.Unanswered > 0 {
		parts = append(parts, wording.Count(s.Unanswered, "request")+" without an answer, so that nothing shows what came of them")
	}
	if s.ClockBehind != 0 {
		by := wording.Count(s.SharedDeletions, "deletion")
		parts = append(parts, fmt.Sprintf("its clock is %+d s from that of the audit log, by %s, and corrected here", -s.ClockBehind, by))
	}
	if s.Yearless {
		parts = append(parts, "without a year: --year gives it")
	}
	return parts
}

// period returns from when to when a source is, as it follows its form.
func period(s *trace.Source) string {
	switch {
	case s.Form == trace.FormScan && s.First.IsZero():
		return ", which does not say when it was made"
	case s.Form == trace.FormScan:
		return " of " + reason.Clock(s.First)
	case s.First.IsZero():
		return ""
	}
	return " from " + reason.Clock(s.First) + " to " + reason.Clock(s.Last)
}

// writes returns how many writes there are, and the types of most.
func writes(resources map[string]int) string {
	names := slices.SortedFunc(maps.Keys(resources), func(a, b string) int {
		return cmp.Or(cmp.Compare(resources[b], resources[a]), cmp.Compare(a, b))
	})
	all := 0
	for i, name := range names {
		all += resources[name]
		names[i] = escape.Word(name)
	}
	if all == 0 {
		return "no writes"
	}
	return wording.Count(all, "write") + " of " + wording.List(names, 3)
}

// levels returns at which levels the deletions are.
func levels(deletions map[string]int) string {
	var parts []string
	for _, level := range slices.Sorted(maps.Keys(deletions)) {
		parts = append(parts, wording.Thousands(deletions[level])+" at level "+escape.Word(level))
	}
	if len(parts) == 0 {
		return "no deletions"
	}
	return "deletions: " + strings.Join(parts, ", ")
}
