package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// verdict is what there is to say of a target.
type verdict string

// The verdicts.
const (
	fine     verdict = "ok"
	panicked verdict = "PANICKED"
	hung     verdict = "HUNG"
	failed   verdict = "FAILED"
	idle     verdict = "EXECUTED NOTHING NEW: those that were there before took all the time"
)

// hang is for how long no input has to have ended for one to count as hanging. go
// test itself has no bound: at the end of its time it kills whatever still runs, and
// says no more of it than of an input that the end has surprised.
const hang = 10 * time.Second

// course is how one target went.
type course struct {
	Target  target
	Inputs  int // executed, with those that were there before
	Verdict verdict
	said    []byte // by go test
}

// progress is what go test says every three seconds and at the end: for how long it
// has run, and how many inputs it has executed, or while it begins, how many of those
// that were there before.
var progress = regexp.MustCompile(`^fuzz: elapsed: (\S+), (execs|gathering baseline coverage): (\d+)`)

// cut is what go test says, and fails with, where its time is up while a worker still
// runs an input: that nothing broke, but for the clock. A failing input is always
// named.
var cut = regexp.MustCompile(`(?m)^\s+context deadline exceeded$`)

// read reads it from what go test said, and what it ended with.
func read(t target, said []byte, err error) course {
	c := course{Target: t, Verdict: fine, said: said}
	var step string // the last count that was another than the one before
	var since, longest time.Duration
	for line := range bytes.Lines(said) {
		m := progress.FindSubmatch(line)
		if m == nil {
			continue
		}
		at, _ := time.ParseDuration(string(m[1])) // as go test writes it
		if now := string(m[2]) + string(m[3]); now != step {
			step, since = now, at
		}
		longest = max(longest, at-since)
		if string(m[2]) == "execs" {
			c.Inputs, _ = strconv.Atoi(string(m[3])) // digits
		}
	}
	switch named := bytes.Contains(said, []byte("ailing input")); {
	case longest >= hang:
		c.Verdict = hung
	case bytes.Contains(said, []byte("panic: ")):
		c.Verdict = panicked
	case named, err != nil && !cut.Match(said):
		c.Verdict = failed
	case c.Inputs == 0:
		c.Verdict = idle
	}
	return c
}

func (c course) line() string {
	return fmt.Sprintf("%-28s %-16s %14s inputs  %s\n", c.Target.Folder(), c.Target.Name, wording.Thousands(c.Inputs), c.Verdict)
}
