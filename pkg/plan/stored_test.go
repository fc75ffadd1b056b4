package plan_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var (
	message  = regexp.MustCompile(`"message": "(?:[^"\\]|\\.)*"`)
	checksum = regexp.MustCompile(`"checksum": "[0-9a-f]*"`)
)

// someSteps returns a saved plan that deletes, unlinks and leaves something blocked.
func someSteps(t *testing.T) string {
	t.Helper()
	p := planOf(absent, Listing(Secret("a/x", OwnedBy(gone)), Secret("a/y", OwnedBy(gone), OwnedBy(Deployment("a/there"))), Deployment("a/there")))
	if len(p.Steps) != 2 {
		t.Fatalf("%d steps", len(p.Steps))
	}
	return string(save(t, p))
}

// asSaved returns a changed plan with the checksum of its content, as another version would
// have written it.
func asSaved(text string) string {
	return checksum.ReplaceAllString(text, `"checksum": "`+plan.Checksum([]byte(text))+`"`)
}

func load(t *testing.T, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Load(strings.NewReader(text), 1<<30)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

func TestRewordedMessagesKeepDigestAndPlan(t *testing.T) {
	saved := someSteps(t)
	reworded := message.ReplaceAllString(saved, `"message": "in other words"`)
	if strings.Count(reworded, "in other words") < 2 {
		t.Fatalf("nothing to reword in %s", saved)
	}
	if diff := cmp.Diff(load(t, saved), load(t, asSaved(reworded))); diff != "" {
		t.Errorf("(-saved +reworded)\n%s", diff)
	}
	if _, err := plan.Load(strings.NewReader(reworded), 1<<30); err == nil {
		t.Error("a sentence was edited in the file, and it loads")
	}
}

func TestLoadRefusesUnknownFieldsUnlessInformational(t *testing.T) {
	saved := someSteps(t)
	more := strings.Replace(saved, `"steps": [`, `"cost": {"of": 1}, "steps": [`, 1)
	if _, err := plan.Load(strings.NewReader(asSaved(more)), 1<<30); err == nil || !strings.Contains(err.Error(), `unknown field "cost"`) {
		t.Errorf("got %v", err)
	}
	// The digest covers the field, so it differs from that of the plan without it.
	marked := strings.Replace(more, `"steps": [`, `"informational": ["cost"], "steps": [`, 1)
	marked = strings.Replace(marked, load(t, saved).Digest, plan.DigestOf([]byte(marked)), 1)
	if got := load(t, asSaved(marked)); len(got.Steps) != 2 {
		t.Errorf("%d steps", len(got.Steps))
	}
}

func TestInformationalFieldsCannotHideSteps(t *testing.T) {
	saved := someSteps(t)
	hidden := strings.Replace(saved, `"steps": [`, `"informational": ["references"], "steps": [`, 1)
	if _, err := plan.Load(strings.NewReader(asSaved(hidden)), 1<<30); err == nil {
		t.Error("a plan that hides references has the digest of the one that was confirmed")
	}
}

func TestLoadIgnoresWhiteSpaceAndEscapes(t *testing.T) {
	saved := someSteps(t)
	same := strings.ReplaceAll(strings.ReplaceAll(saved, "    ", "\t"), `"delete"`, `"\u0064elete"`)
	if diff := cmp.Diff(load(t, saved), load(t, same)); diff != "" {
		t.Errorf("(-saved +escaped)\n%s", diff)
	}
}

func TestLoadRefusesUnknownReasons(t *testing.T) {
	saved := strings.Replace(someSteps(t), `"reason": "OwnersLost"`, `"reason": "OwnersElsewhere"`, 1)
	if _, err := plan.Load(strings.NewReader(asSaved(saved)), 1<<30); err == nil || !strings.Contains(err.Error(), `unknown reason "OwnersElsewhere"`) {
		t.Errorf("got %v", err)
	}
}

// The plans in testdata/saved were written by earlier versions. Never rewrite them.
func TestLoadPlansOfEarlierVersions(t *testing.T) {
	files, err := filepath.Glob("testdata/saved/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d plans (%v)", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Load(bytes.NewReader(data), 1<<30)
		if err != nil || len(p.Steps) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
