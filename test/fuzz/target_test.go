package main

import (
	"slices"
	"testing"
	"time"
)

func TestRepeatLonger(t *testing.T) {
	const second = time.Second
	for name, test := range map[string]struct {
		verdicts []outcome
		given    []time.Duration
	}{
		"it executes something new":           {[]outcome{fine}, []time.Duration{second}},
		"the known ones take less than twice": {[]outcome{idle, fine}, []time.Duration{second, 2 * second}},
		"one breaks":                          {[]outcome{failed}, []time.Duration{second}},
		"one breaks the second time":          {[]outcome{idle, panicked}, []time.Duration{second, 2 * second}},
		"they take whatever time there is": {
			[]outcome{idle, idle, idle, idle, idle},
			[]time.Duration{second, 2 * second, 4 * second, 8 * second, report{Each: second}.Longest()},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var given []time.Duration
			got := repeatLonger(second, func(long time.Duration) result {
				given = append(given, long)
				return result{Outcome: test.verdicts[min(len(given), len(test.verdicts))-1]}
			})
			if !slices.Equal(given, test.given) || got.Outcome != test.verdicts[len(test.verdicts)-1] {
				t.Errorf("given %v, it ends with %s; want %v", given, got.Outcome, test.given)
			}
		})
	}
}
