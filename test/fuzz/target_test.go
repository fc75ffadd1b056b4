package main

import (
	"slices"
	"testing"
	"time"
)

func TestATargetIsGivenMoreTimeOnlyWhereKnownInputsTookAllOfIt(t *testing.T) {
	const second = time.Second
	for name, test := range map[string]struct {
		verdicts []verdict
		given    []time.Duration
	}{
		"it executes something new":           {[]verdict{fine}, []time.Duration{second}},
		"the known ones take less than twice": {[]verdict{idle, fine}, []time.Duration{second, 2 * second}},
		"one breaks":                          {[]verdict{failed}, []time.Duration{second}},
		"one breaks the second time":          {[]verdict{idle, panicked}, []time.Duration{second, 2 * second}},
		"they take whatever time there is": {
			[]verdict{idle, idle, idle, idle, idle},
			[]time.Duration{second, 2 * second, 4 * second, 8 * second, report{Each: second}.Longest()},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var given []time.Duration
			got := lengthen(second, func(long time.Duration) course {
				given = append(given, long)
				return course{Verdict: test.verdicts[min(len(given), len(test.verdicts))-1]}
			})
			if !slices.Equal(given, test.given) || got.Verdict != test.verdicts[len(test.verdicts)-1] {
				t.Errorf("given %v, it ends with %s; want %v", given, got.Verdict, test.given)
			}
		})
	}
}
