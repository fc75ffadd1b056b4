package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// outcome is the outcome of fuzzing a target.
type outcome string

// The outcomes.
const (
	fine     outcome = "ok"
	panicked outcome = "PANICKED"
	hung     outcome = "HUNG"
	failed   outcome = "FAILED"
	idle     outcome = "EXECUTED NOTHING NEW: the cached inputs took all the time"
)

// hang is the time without a completed input after which an input counts as hanging. go test
// itself has no such limit: at the end of its time it kills a running input, and reports it in
// the same way as an input that was merely interrupted.
const hang = 10 * time.Second

// result is the result of fuzzing a target.
type result struct {
	Target  target
	Inputs  int // executed, including the cached ones
	Outcome outcome
	output  []byte // of go test
}

// progress matches the lines that go test prints every three seconds and at the end: the elapsed
// time, and the number of executed inputs or, at first, of executed cached inputs.
var progress = regexp.MustCompile(`^fuzz: elapsed: (\S+), (execs|gathering baseline coverage): (\d+)`)

// interrupted matches the error of go test if its time is over while an input is running, and
// nothing else failed. For a failing input, go test always prints more.
var interrupted = regexp.MustCompile(`(?m)^\s+context deadline exceeded$`)

// parseResult returns the result according to the output and the error of go test.
func parseResult(t target, output []byte, err error) result {
	c := result{Target: t, Outcome: fine, output: output}
	var step string // the last count that differed from the one before
	var since, longest time.Duration
	for line := range bytes.Lines(output) {
		m := progress.FindSubmatch(line)
		if m == nil {
			continue
		}
		at, _ := time.ParseDuration(string(m[1])) // valid, as go test prints it
		if now := string(m[2]) + string(m[3]); now != step {
			step, since = now, at
		}
		longest = max(longest, at-since)
		if string(m[2]) == "execs" {
			c.Inputs, _ = strconv.Atoi(string(m[3])) // only digits
		}
	}
	switch named := bytes.Contains(output, []byte("ailing input")); {
	case longest >= hang:
		c.Outcome = hung
	case bytes.Contains(output, []byte("panic: ")):
		c.Outcome = panicked
	case named, err != nil && !interrupted.Match(output):
		c.Outcome = failed
	case c.Inputs == 0:
		c.Outcome = idle
	}
	return c
}

func (c result) summary() string {
	return fmt.Sprintf("%-28s %-16s %14s inputs  %s\n", c.Target.Folder(), c.Target.Name, wording.Thousands(c.Inputs), c.Outcome)
}
