package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// suiteResult is the result of a suite on one version.
type suiteResult struct {
	Suite      suite
	Runs       int      // tests without subtests, and subtests
	Skipped    []string // tests that were not run
	Mismatches []string // tests that failed
}

func (r suiteResult) hasMismatch() bool { return len(r.Mismatches) > 0 }

// testEvent is a line of go test -json (go doc test2json).
type testEvent struct {
	Action  string
	Test    string // empty for the package
	Output  string
	Elapsed float64 // in seconds
}

// parse reads the output of go test -json and returns a result for every suite. It writes the
// output of failed tests to out, and a line for every test that is not a subtest.
func parse(from io.Reader, out io.Writer) ([]suiteResult, error) {
	results := make([]suiteResult, len(suites))
	for i := range suites {
		results[i].Suite = suites[i]
	}
	output := map[string]*strings.Builder{} // by test
	counted, failed := map[string]bool{}, map[string]bool{}
	for d := json.NewDecoder(from); ; {
		var e testEvent
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return results, nil
		} else if err != nil {
			return results, fmt.Errorf("read the output of go test: %w", err)
		}
		switch e.Action {
		case "build-output":
			fmt.Fprint(out, e.Output)
			continue
		case "output":
			if output[e.Test] == nil {
				output[e.Test] = &strings.Builder{}
			}
			output[e.Test].WriteString(e.Output)
			continue
		case "pass", "fail", "skip":
		default:
			continue
		}
		text := output[e.Test]
		delete(output, e.Test)
		// A test ends after its subtests. It counts only if it has none, or fails by itself.
		if e.Action == "fail" && !failed[e.Test] && text != nil {
			fmt.Fprint(out, text)
		}
		if e.Test != "" && !strings.Contains(e.Test, "/") {
			fmt.Fprintf(out, "  %s  %s  %.0fs\n", e.Action, e.Test, e.Elapsed)
		}
		i, ok := suiteOf(e.Test)
		if !ok || counted[e.Test] && (e.Action != "fail" || failed[e.Test]) {
			continue
		}
		r := &results[i]
		switch e.Action {
		case "skip":
			r.Skipped = append(r.Skipped, e.Test)
		case "fail":
			r.Mismatches = append(r.Mismatches, e.Test)
			r.Runs++
		default:
			r.Runs++
		}
		for _, parent := range parents(e.Test) {
			counted[parent] = true
			failed[parent] = failed[parent] || e.Action == "fail"
		}
	}
}

// parents returns the tests that contain a test as a subtest.
func parents(test string) []string {
	var all []string
	for i := strings.LastIndex(test, "/"); i >= 0; i = strings.LastIndex(test, "/") {
		test = test[:i]
		all = append(all, test)
	}
	return slices.Clip(all)
}
