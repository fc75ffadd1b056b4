package e2e

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watchLine is a line of JSON of a command with --watch.
type watchLine struct {
	Kind     string    `json:"kind"`
	Time     time.Time `json:"time"`
	Complete bool      `json:"complete"`
	Findings []finding `json:"findings"`
	Objects  []struct{ Object identity }
}

// watchPair is a command with --watch, at a terminal and in a pipe.
type watchPair struct {
	terminal *terminal
	pipe     *process
}

func (s *scene) watch(args ...string) watchPair {
	s.Helper()
	args = append(args, "--watch")
	return watchPair{s.tool().atTerminal(args...), s.tool().start(args...)}
}

// awaitTexts waits until the terminal shows one text and the pipe has another.
func (w watchPair) awaitTexts(shown, piped string) {
	w.pipe.Helper()
	w.terminal.awaitText(shown)
	w.pipe.awaitText(piped)
}

// awaitTextsAfter is awaitTexts of what both have written after the last of some words.
func (w watchPair) awaitTextsAfter(words, shown, piped string) {
	w.pipe.Helper()
	for _, c := range []struct {
		*process
		text string
	}{{w.terminal.process, shown}, {w.pipe, piped}} {
		c.await("the words "+c.text+" after "+words, func(context.Context) (bool, error) {
			out := c.stdout.String()
			return strings.Contains(out[strings.LastIndex(out, words):], c.text), nil
		})
	}
}

// interrupt ends both, and returns what the terminal shows then, and the lines.
func (w watchPair) interrupt(t *testing.T) (left string, lines []watchLine) {
	t.Helper()
	w.terminal.press("\x03")
	w.pipe.must(w.pipe.cmd.Process.Signal(os.Interrupt))
	shown := w.terminal.wait().exits(t, 130).Stdout
	before, left, closed := strings.Cut(shown, "\x1b[?1049l")
	if !closed || strings.Count(before, "\x1b[?1049h") != 1 || strings.Contains(before, "\x1b[2J") {
		t.Errorf("the terminal got %q", shown)
	}
	for line := range strings.Lines(w.pipe.wait().exits(t, 130).Stdout) {
		var l watchLine
		w.pipe.must(json.Unmarshal([]byte(line), &l))
		if l.Time.IsZero() {
			t.Errorf("a line has no time: %s", line)
		}
		lines = append(lines, l)
	}
	return left, lines
}

// A bad reference appears and is repaired, and a deletion begins and ends.
func TestWatch(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("watch")
	held := s.create(configMap(ns, "held", heldBy("example.com/hold")))
	audit, stuck := s.watch("audit", "-n", ns), s.watch("stuck", "-n", ns)
	audit.awaitTexts("No problems found in ", `"findings":[]`)
	stuck.awaitTexts("Nothing is being deleted.", `"objects":[]`)

	bad := s.create(configMap(ns, "bad", ownedBy(reference("example.com/v1", "Nothing", "none", "none"))))
	audit.awaitTexts("unknown-owner-kind", `"rule":"unknown-owner-kind"`)
	s.setOwners(bad)
	audit.awaitTextsAfter("unknown-owner-kind", "No problems found in ", `"findings":[]`)
	s.remove(held, metav1.DeletePropagationBackground)
	stuck.awaitTexts("ConfigMap/held", `"name":"held"`)
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	stuck.awaitTextsAfter("held", "Nothing is being deleted.", `"objects":[]`)

	t.Run("audit", func(t *testing.T) {
		left, lines := audit.interrupt(t)
		for _, words := range []string{"kubectl gc audit -n " + ns + "   2", "Complete scan", "No problems found in "} {
			if !strings.Contains(left, words) {
				t.Errorf("the terminal does not keep %q: %s", words, left)
			}
		}
		requireLines(t, lines, "AuditReport", func(l watchLine) int { return len(l.Findings) })
	})
	t.Run("stuck", func(t *testing.T) {
		_, lines := stuck.interrupt(t)
		requireLines(t, lines, "TerminatingReport", func(l watchLine) int { return len(l.Objects) })
	})
}

// requireLines requires complete documents of a kind, whose first and last are empty and another one is not.
func requireLines(t *testing.T, lines []watchLine, kind string, size func(watchLine) int) {
	t.Helper()
	most := 0
	for _, l := range lines {
		if l.Kind != kind || !l.Complete {
			t.Errorf("a line is %+v", l)
		}
		most = max(most, size(l))
	}
	if first, last := size(lines[0]), size(lines[len(lines)-1]); first != 0 || most != 1 || last != 0 {
		t.Errorf("it has first %d, then %d, and last %d", first, most, last)
	}
}
