package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// line is one event of -o jsonl, as a client would declare it.
type line struct {
	Event  string    `json:"event"`
	Step   string    `json:"step"`
	Action string    `json:"action"`
	Object *identity `json:"object"`
	Status string    `json:"status"`
	Because
	// Only the last event has these.
	Done    *int    `json:"done"`
	Skipped *int    `json:"skipped"`
	Failed  *int    `json:"failed"`
	Blocked *int    `json:"blocked"`
	Left    *int    `json:"left"`
	Backup  *string `json:"backup"`

	Verification *string `json:"verification"`
}

// The formats of a plan are tested from a snapshot, in test/script.
func TestCollectResultFormatsAgree(t *testing.T) {
	s := newScene(t)
	run := func(format string) result {
		ns := s.namespace("results")
		s.createEveryAction(ns)
		stuck := s.create(configMap(ns, "stuck", heldBy("example.com/hold")))
		s.create(secret(ns, "blocker", ownedBy(referenceTo(stuck, blocking)), heldBy("example.com/hold")))
		s.remove(stuck, metav1.DeletePropagationForeground)
		return s.gc("collect", "-n", ns, "--yes", "-o", format, "--dry-run=none").exits(t, 1)
	}
	want := decode[collected](t, run("json"))
	checkCollected(t, want)
	if len(want.Blocked) != 2 || want.Left == nil || len(want.Left) > 0 {
		t.Errorf("blocked %v, left %v", want.Blocked, want.Left)
	}
	checkLines(t, run("jsonl"), want)
	if r := s.gc("collect", "-n", s.namespace("empty")).exits(t, 0); r.Stdout != "Nothing to do. Complete scan.\n" || r.Stderr != "" {
		t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
	}
}

// checkLines reads a stream of events and requires that each step starts once and ends once.
func checkLines(t *testing.T, r result, want collected) {
	t.Helper()
	begun, ended := map[string]int{}, map[string]string{}
	var last line
	for text := range strings.Lines(r.Stdout) {
		last = line{}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&last); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		switch last.Event {
		case "started":
			begun[last.Step]++
		case "ended":
			if ended[last.Step] != "" || begun[last.Step] != 1 {
				t.Errorf("step %s ends twice, or before it begins", last.Step)
			}
			ended[last.Step] = last.Status
		case "backup", "waiting", "finished":
		default:
			t.Errorf("the event %q", last.Event)
		}
	}
	done := 0
	for _, status := range ended {
		if status == "done" {
			done++
		}
	}
	if last.Event != "finished" || last.Backup == nil || *last.Backup == "" || last.Verification == nil || *last.Verification != "complete" {
		t.Fatalf("the last line is %+v", last)
	}
	if got := (collectedSummary{*last.Done, *last.Skipped, *last.Failed, *last.Blocked, *last.Left}); got != want.Summary || done != got.Done {
		t.Errorf("it finishes with %+v, want %+v; %d steps are done", got, want.Summary, done)
	}
}
