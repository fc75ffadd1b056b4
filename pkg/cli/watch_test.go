package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seen is an answer about a cluster that has so many objects.
type seen struct {
	Objects int    `json:"objects"`
	Message string `json:"message"` // has an age
}

// sight is what the program sees of a cluster at a time: so many objects, or none if that failed.
type sight struct {
	objects int
	at      int // minutes
	err     error
}

// follow returns what a watch of these states has written to standard output, and its error after the last one.
func follow(t *testing.T, lines bool, states ...sight) (out string, run *watching, err error) {
	t.Helper()
	var written bytes.Buffer
	begun := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	now := begun
	output := NewOutputFlags("table")
	own := Streams{Out: &written, Err: &bytes.Buffer{}, Now: func() time.Time { return now }}
	options := NewScanOptions(own)
	run = &watching{
		Watch: &Watch{scan: options, lines: lines, output: output}, header: "kubectl gc stuck", own: own, answer: &bytes.Buffer{},
		screen: &screen{out: &written, height: func() int { return 0 }},
	}
	options.Out = run.answer
	if lines {
		output.Format, output.clock = "json", run.now
	}
	if err := output.Complete(&options.Streams); err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		now = begun.Add(time.Duration(s.at) * time.Minute)
		run.once = func(context.Context) error {
			switch {
			case s.err != nil:
				return s.err
			case lines:
				return output.Write("Seen", seen{s.objects, fmt.Sprintf("for %d minutes", s.at)})
			}
			fmt.Fprintf(options.Out, "%d objects\n", s.objects)
			return ExitError(ExitFound)
		}
		if err = run.next(t.Context()); err != nil {
			break
		}
	}
	return written.String(), run, err
}

var errLost = errors.New("connection lost")

func TestWatchWritesADocumentWheneverItHasChanged(t *testing.T) {
	for name, c := range map[string]struct {
		states []sight
		want   string
	}{
		"the first one":                 {[]sight{{1, 0, nil}}, "1@0"},
		"only times are other":          {[]sight{{1, 0, nil}, {1, 5, nil}}, "1@0"},
		"another one":                   {[]sight{{1, 0, nil}, {2, 5, nil}, {1, 6, nil}}, "1@0 2@5 1@6"},
		"a failure is said once":        {[]sight{{1, 0, nil}, {0, 1, errLost}, {0, 2, errLost}}, "1@0 connection lost@1"},
		"the same after a failure":      {[]sight{{1, 0, nil}, {0, 1, errLost}, {1, 2, nil}, {1, 3, nil}}, "1@0 connection lost@1 1@2"},
		"another one after a failure":   {[]sight{{1, 0, nil}, {0, 1, errLost}, {2, 2, nil}}, "1@0 connection lost@1 2@2"},
		"a failure is not an empty one": {[]sight{{3, 0, nil}, {0, 1, errLost}, {0, 2, nil}}, "3@0 connection lost@1 0@2"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := follow(t, true, c.states...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(out) {
				var l struct {
					seen
					Type, Kind string
					Time       time.Time
				}
				if err := json.Unmarshal([]byte(line), &l); err != nil || l.Kind != "Seen" && l.Type != "ERROR" {
					t.Fatalf("%v in %s", err, line)
				}
				what := fmt.Sprint(l.Objects)
				if l.Type == "ERROR" {
					what = l.Message
				}
				got = append(got, fmt.Sprintf("%s@%d", what, l.Time.Minute()))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWatchKeepsTheLastAnswerOnTheScreenWhileTheClusterCannotBeRead(t *testing.T) {
	_, run, err := follow(t, false, sight{7, 0, nil}, sight{8, 1, nil}, sight{0, 2, errLost})
	if err != nil {
		t.Fatal(err)
	}
	want := `kubectl gc stuck   2026-11-20T08:01:00Z
Cannot read the cluster: connection lost
This is what was there at the time above.

8 objects
`
	if diff := cmp.Diff(want, run.frame()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWatchEndsWithAnErrorBeforeAnAnswerAndWhenInterrupted(t *testing.T) {
	if _, _, err := follow(t, true, sight{0, 0, errLost}); !errors.Is(err, errLost) {
		t.Errorf("before an answer: %v", err)
	}
	_, run, _ := follow(t, true, sight{1, 0, nil})
	ended, end := context.WithCancel(t.Context())
	end()
	run.once = context.Context.Err
	if err := run.next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("when interrupted: %v", err)
	}
}
