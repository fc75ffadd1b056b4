package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watchLine is a line of JSON of any command.
type watchLine struct {
	Type     string    `json:"type"`
	Kind     string    `json:"kind"`
	Time     time.Time `json:"time"`
	Outcome  string    `json:"outcome"`
	Complete bool      `json:"complete"`
	Finding  finding   `json:"finding"`
	Objects  []struct {
		identity
		Owners []struct{ Verdict string }
	} `json:"objects"`
	Answers []struct{ State, Consequence, Headline string } `json:"answers"`
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

// interrupt ends both, and returns what the terminal shows then, and the lines.
func (w watchPair) interrupt(t *testing.T) (left string, lines []watchLine) {
	t.Helper()
	w.terminal.press("\x03")
	w.pipe.must(w.pipe.cmd.Process.Signal(os.Interrupt))
	return w.end(t, 130)
}

func (w watchPair) end(t *testing.T, code int) (left string, lines []watchLine) {
	t.Helper()
	shown := w.terminal.wait().exits(t, code).Stdout
	before, left, closed := strings.Cut(shown, "\x1b[?1049l")
	if !closed || strings.Count(before, "\x1b[?1049h") != 1 || strings.Contains(before, "\x1b[2J") {
		t.Errorf("the terminal got %q", shown)
	}
	for line := range strings.Lines(w.pipe.wait().exits(t, code).Stdout) {
		var l watchLine
		w.pipe.must(json.Unmarshal([]byte(line), &l))
		if l.Time.IsZero() {
			t.Errorf("a line has no time: %s", line)
		}
		lines = append(lines, l)
	}
	return left, lines
}

// Three commands watch the same changes: a bad reference appears and is repaired, an owner gets
// another dependent, and is deleted, whereupon the real collector deletes the dependents.
func TestWatch(t *testing.T) {
	s := sceneWithCollector(t)
	ns := s.namespace("watch")
	owner := s.create(configMap(ns, "owner"))
	s.create(secret(ns, "child", ownedBy(referenceTo(owner))))
	audit, tree, why := s.watch("audit", "-n", ns), s.watch("tree", "configmap/owner", "-n", ns), s.watch("why", "secret/child", "-n", ns)
	audit.awaitTexts("No problems found in ", `"type":"SYNCED"`)
	tree.awaitTexts("Secret/child", `"name":"child"`)
	const stays = "Secret/child stays: its owner ConfigMap/owner exists."
	why.awaitTexts(stays, stays)

	bad := s.create(configMap(ns, "bad", ownedBy(reference("example.com/v1", "Nothing", "none", "none"))))
	s.create(secret(ns, "second", ownedBy(referenceTo(owner))))
	audit.awaitTexts("unknown-owner-kind", `"type":"ADDED"`)
	tree.awaitTexts("Secret/second", `"name":"second"`)
	s.setOwners(bad)
	audit.awaitTexts("1 finding gone since ", `"type":"REMOVED"`)
	s.remove(owner, metav1.DeletePropagationBackground)
	tree.awaitTexts(`"configmaps/owner" in namespace "`+ns+`" does not exist`, `"objects":[]`)

	t.Run("audit", func(t *testing.T) {
		left, lines := audit.interrupt(t)
		for _, words := range []string{"kubectl gc audit -n " + ns + "   changed ", "   Complete scan.\n", "GONE AT", "unknown-owner-kind", "ConfigMap/bad", "resolved"} {
			if !strings.Contains(left, words) {
				t.Errorf("the terminal does not keep %q: %s", words, left)
			}
		}
		var got []string
		for _, l := range lines {
			switch l.Type {
			case "SYNCED":
				if len(got) == 0 && !l.Complete {
					t.Errorf("the first scan is incomplete: %+v", l)
				}
				got = append(got, l.Type)
			default:
				if l.Finding.Object.Name == "bad" {
					got = append(got, l.Type+" "+l.Finding.Rule+" "+l.Outcome)
				}
			}
		}
		if joined := strings.Join(got, ", "); joined != "SYNCED, ADDED unknown-owner-kind , REMOVED unknown-owner-kind resolved" {
			t.Errorf("the lines are %s", joined)
		}
	})
	t.Run("tree", func(t *testing.T) {
		_, lines := tree.interrupt(t)
		most := 0
		for _, l := range lines {
			if l.Kind != "Tree" || !l.Complete {
				t.Errorf("a line is %+v", l)
			}
			most = max(most, len(l.Objects))
		}
		if first, last := lines[0], lines[len(lines)-1]; len(first.Objects) != 2 || most != 3 || len(last.Objects) != 0 {
			t.Errorf("it has first %d, then %d, and last %d objects", len(first.Objects), most, len(last.Objects))
		}
	})
	t.Run("why", func(t *testing.T) {
		left, lines := why.end(t, 0)
		const gone = "is gone: it was deleted while this command watched it."
		if !strings.Contains(left, gone) || !strings.Contains(left, "The last answer before that: ") {
			t.Errorf("the terminal keeps %s", left)
		}
		if last := lines[len(lines)-1]; last.Kind != "Explanation" || last.Answers[0].State != "gone" || !strings.Contains(last.Answers[0].Headline, gone) {
			t.Errorf("the last line is %+v", last)
		}
	})
}
