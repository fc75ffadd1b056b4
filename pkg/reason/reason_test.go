package reason_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// TestEverySentenceIsTested looks for the code of each reason with parameters in the tests of the
// sentences, and in the findings that the tests of the rules of audit show.
func TestEverySentenceIsTested(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	findings, err := filepath.Glob("../audit/testdata/rules/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var program, tests strings.Builder
	for _, name := range append(files, findings...) {
		text, err := os.ReadFile(name)
		switch {
		case err != nil:
			t.Fatal(err)
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			tests.Write(text)
		default:
			program.Write(text)
		}
	}
	codes := 0
	for _, found := range regexp.MustCompile(`(?m)^\t?(?:var )?(\w+)\s+= (?:with|says2?|failed|either)\b|^func \(r? ?(\w+)\) Message`).FindAllStringSubmatch(program.String(), -1) {
		code := found[1] + found[2]
		if codes++; !regexp.MustCompile(`reason\.` + code + `\b|"reason": "` + code + `"`).MatchString(tests.String()) {
			t.Errorf("no test has the sentence of %s", code)
		}
	}
	if codes < 120 {
		t.Errorf("only %d codes were found", codes)
	}
}

func TestParametersAreFieldsOfAnObject(t *testing.T) {
	pod := object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "u-1"}
	for want, r := range map[string]*reason.Reason{
		`null`: nil,
		`{"reason":"AlreadyGone","message":"already gone"}`:                                                                                                      reason.AlreadyGone,
		`{"reason":"NoEffect","message":"the garbage collector does nothing about it"}`:                                                                          reason.NoEffect(false),
		`{"reason":"KeepsChanging","parameters":{"attempts":0},"message":"it keeps changing: gave up after 0 attempts"}`:                                         reason.KeepsChanging(0),
		`{"reason":"WriteFailed","parameters":{"errorClass":"timeout","detail":"no answer"},"message":"no answer"}`:                                              reason.WriteFailed(reason.Failure{ErrorClass: "timeout", Detail: "no answer"}),
		`{"reason":"NotProcessed","parameters":{"after":"1m0s"},"message":"1m0s later, the garbage collector had not done this"}`:                                reason.NotProcessed(metav1.Duration{Duration: time.Minute}),
		`{"reason":"WaitsForDependents","parameters":{"by":` + encoded(t, pod) + `},"message":"waits for Pod/web, which the garbage collector processes first"}`: reason.WaitsForDependents(pod, 0),
		`{"reason":"DependentExists","message":"something depends on it"}`:                                                                                       reason.DependentExists(nil),
	} {
		if got := encoded(t, r); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if r == nil {
			want = `{}`
		}
		if got := encoded(t, struct{ *reason.Reason }{r}); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestMessageWithoutWhatWasFound(t *testing.T) {
	for _, state := range []reason.OwnerState{reason.StateMismatched, reason.StateInOtherNamespace, reason.StateReplaced, "Invented"} {
		lost := reason.ReferencesLost(reason.Owner{Kind: "Pod", Name: "web", Found: reason.Found{State: state}})
		if lost.Message() == "references to Pod/web, which " {
			t.Errorf("no sentence for state %s", state)
		}
	}
}
