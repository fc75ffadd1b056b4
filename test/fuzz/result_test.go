package main

import (
	"errors"
	"strings"
	"testing"
)

// begun is the output with which go test begins.
const begun = `fuzz: elapsed: 0s, gathering baseline coverage: 0/18 completed
fuzz: elapsed: 0s, gathering baseline coverage: 18/18 completed, now fuzzing with 1 workers
`

func TestParseResult(t *testing.T) {
	for name, test := range map[string]struct {
		said    string
		fails   bool
		inputs  int
		verdict outcome
	}{
		"inputs are executed to the end": {begun +
			"fuzz: elapsed: 3s, execs: 4000 (1333/sec), new interesting: 1 (total: 19)\n" +
			"fuzz: elapsed: 6s, execs: 9000 (1666/sec), new interesting: 1 (total: 19)\n" +
			"PASS\nok  \texample.com/a\t6.1s\n", false, 9000, fine},
		"the end comes while one runs": {begun +
			"fuzz: elapsed: 3s, execs: 4000 (1333/sec), new interesting: 1 (total: 19)\n" +
			"--- FAIL: FuzzA (3.01s)\n    context deadline exceeded\nFAIL\n", true, 4000, fine},
		"one breaks what has to hold": {begun +
			"fuzz: elapsed: 1s, execs: 40 (40/sec), new interesting: 0 (total: 18)\n" +
			"--- FAIL: FuzzA (1.01s)\n    --- FAIL: FuzzA (0.00s)\n        a_test.go:9: no\n    \n    Failing input written to testdata/fuzz/FuzzA/1f\nFAIL\n", true, 40, failed},
		"one that was known breaks it": {"fuzz: elapsed: 0s, gathering baseline coverage: 0/18 completed\n" +
			"failure while testing seed corpus entry: FuzzA/seed#0\n--- FAIL: FuzzA (0.01s)\nFAIL\n", true, 0, failed},
		"one panics": {begun +
			"fuzz: elapsed: 1s, execs: 40 (40/sec), new interesting: 0 (total: 18)\n" +
			"--- FAIL: FuzzA (1.01s)\n    --- FAIL: FuzzA (0.00s)\n        testing.go:1700: panic: runtime error: index out of range\n    Failing input written to testdata/fuzz/FuzzA/1f\nFAIL\n", true, 40, panicked},
		"one hangs, and the end comes": {begun +
			"fuzz: elapsed: 3s, execs: 40 (13/sec), new interesting: 0 (total: 18)\n" +
			"fuzz: elapsed: 6s, execs: 40 (0/sec), new interesting: 0 (total: 18)\n" +
			"fuzz: elapsed: 9s, execs: 40 (0/sec), new interesting: 0 (total: 18)\n" +
			"fuzz: elapsed: 12s, execs: 40 (0/sec), new interesting: 0 (total: 18)\n" +
			"fuzz: elapsed: 15s, execs: 40 (0/sec), new interesting: 0 (total: 18)\n" +
			"--- FAIL: FuzzA (15.01s)\n    context deadline exceeded\nFAIL\n", true, 40, hung},
		"a known one hangs": {"fuzz: elapsed: 0s, gathering baseline coverage: 0/18 completed\n" +
			"fuzz: elapsed: 3s, gathering baseline coverage: 3/18 completed\n" +
			"fuzz: elapsed: 15s, gathering baseline coverage: 3/18 completed\n" +
			"--- FAIL: FuzzA (15.01s)\n    context deadline exceeded\nFAIL\n", true, 0, hung},
		"the known ones take all the time": {"fuzz: elapsed: 0s, gathering baseline coverage: 0/800 completed\n" +
			"fuzz: elapsed: 3s, gathering baseline coverage: 300/800 completed\n" +
			"fuzz: elapsed: 6s, gathering baseline coverage: 700/800 completed\nPASS\n", false, 0, idle},
		"it does not compile": {"FAIL\texample.com/a [build failed]\n", true, 0, failed},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if test.fails {
				err = errors.New("exit status 1")
			}
			got := parseResult(target{module + "pkg/a", "FuzzA"}, []byte(test.said), err)
			if got.Inputs != test.inputs || got.Outcome != test.verdict {
				t.Errorf("%d inputs, %s; want %d, %s", got.Inputs, got.Outcome, test.inputs, test.verdict)
			}
			if line := got.summary(); !strings.HasPrefix(line, "pkg/a ") || strings.Count(line, "\n") != 1 {
				t.Errorf("it is told as %q", line)
			}
		})
	}
}
