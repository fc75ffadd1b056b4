package e2e

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
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

func TestCollectPlanFormatsAgree(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("formats")
	s.createEveryAction(ns)
	r := s.gc("collect", "-n", ns, "--dry-run", "-o", "json").exits(t, 0)
	want := decode[planned](t, r)
	for name, list := range map[string]bool{
		"gaps": want.Gaps != nil, "steps": want.Steps != nil, "outcomes": want.Outcomes != nil, "blocked": want.Blocked != nil,
	} {
		if !list {
			t.Errorf("%s is null", name)
		}
	}
	objects := make([]identity, len(want.Outcomes))
	for i, o := range want.Outcomes {
		objects[i] = o.Object
	}
	if !slices.IsSortedFunc(objects, func(a, b identity) int { return strings.Compare(sortKey(a), sortKey(b)) }) {
		t.Error("the outcomes are not in the order of their objects")
	}
	// A step is listed after the steps that it follows, and a second run prints the same plan.
	seen := map[string]bool{}
	for _, step := range want.Steps {
		for _, id := range append(step.After, step.Follows) {
			if id != "" && !seen[id] {
				t.Errorf("step %s comes before step %s", step.ID, id)
			}
		}
		if seen[step.ID] = true; step.After == nil || step.OwnerUIDs == nil || step.References == nil || step.Reason == "" {
			t.Errorf("step %s lacks something: %+v", step.ID, step)
		}
	}
	if again := s.gc("collect", "-n", ns, "--dry-run", "-o", "json").exits(t, 0); again.Stdout != r.Stdout {
		t.Error("two runs print different plans")
	}
	for _, format := range []string{"yaml", "kyaml"} {
		var got planned
		s.must(yaml.UnmarshalStrict([]byte(s.gc("collect", "-n", ns, "--dry-run", "-o", format).exits(t, 0).Stdout), &got))
		if !reflect.DeepEqual(want, got) {
			t.Errorf("JSON and %s differ: %+v and %+v", format, want, got)
		}
	}
	if got := s.gc("collect", "-n", ns, "--dry-run", "-o", "jsonpath={.digest}").exits(t, 0); got.Stdout != want.Digest {
		t.Errorf("-o jsonpath answers %q", got.Stdout)
	}
	names := s.gc("collect", "-n", ns, "--dry-run", "-o", "name").exits(t, 0).Stdout
	distinct := map[string]bool{}
	for _, step := range want.Steps {
		distinct[step.Object.UID] = true
	}
	if n := strings.Count(names, "\n"); n != len(distinct) || !strings.Contains(names, "configmap/orphan\n") || !strings.Contains(names, "widget."+customGroup+"/orphan\n") {
		t.Errorf("-o name answers %d lines for %d objects: %s", n, len(distinct), names)
	}
}

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
	r := run("json")
	want := decode[collected](t, r)
	checkCollected(t, want)
	if len(want.Blocked) != 2 || want.Left == nil || len(want.Left) > 0 {
		t.Errorf("blocked %v, left %v", want.Blocked, want.Left)
	}
	distinct := map[string]bool{}
	for _, step := range want.Steps {
		distinct[step.Object.UID] = true
	}
	var inYAML collected
	s.must(yaml.UnmarshalStrict([]byte(run("yaml").Stdout), &inYAML))
	if inYAML.Summary != want.Summary {
		t.Errorf("JSON says %+v, and YAML %+v", want.Summary, inYAML.Summary)
	}
	if names := run("name").Stdout; strings.Count(names, "\n") != len(distinct) {
		t.Errorf("-o name does not answer a line for each of %d objects: %s", len(distinct), names)
	}
	checkLines(t, run("jsonl"), want)
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

func TestCollectWithNothingToDoPrintsEmptyDocument(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("empty")
	s.createUnreadableOwners(ns)
	s.tool().collect("-n", ns)
	if p := s.tool().plan("-n", ns); p.Gaps == nil || p.Steps == nil || p.Outcomes == nil || p.Blocked == nil || len(p.Digest) != 16 || p.Summary != (plannedSummary{}) {
		t.Errorf("%+v", p)
	}
	for _, mode := range []string{"--yes", "--dry-run=server"} {
		c := decode[collected](t, s.gc("collect", "-n", ns, "-o", "json", mode).exits(t, 0))
		if c.Kind != "Result" || c.Steps == nil || c.Blocked == nil || c.Left == nil || c.Gaps == nil || c.Summary != (collectedSummary{}) {
			t.Errorf("%s: %+v", mode, c)
		}
	}
	if r := s.gc("collect", "-n", ns, "-o", "name").exits(t, 0); r.Stdout != "" {
		t.Errorf("-o name answers %q", r.Stdout)
	}
	if r := s.gc("collect", "-n", ns, "-o", "jsonl").exits(t, 0); fmt.Sprint(strings.Count(r.Stdout, "\n"), strings.Contains(r.Stdout, `"finished"`)) != "1 true" {
		t.Errorf("-o jsonl answers %q", r.Stdout)
	}
	if r := s.gc("collect", "-n", ns).exits(t, 0); r.Stdout != "Nothing to do. Complete scan.\n" || r.Stderr != "" {
		t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
	}
}
