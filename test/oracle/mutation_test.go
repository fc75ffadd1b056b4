package oracle

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	// mutationVariable enables the tests of the comparison itself.
	mutationVariable = "MUTATION"
	// mutationScenarios is how many scenarios of one kind each altered program is compared in.
	mutationScenarios = "300"
	// mutationOrders is how many orders of events each of them has.
	mutationOrders = "10"
	// mutationTimeout limits the run of one altered program.
	mutationTimeout = "3m"
)

// mutation is a change of this program that breaks one rule of the collector.
type mutation struct {
	broken   string // what the changed program does
	command  string // that says something wrong then: what is compared
	kind     string // of the scenarios
	file     string // in pkg/collector
	old, new string // old occurs exactly once in the file
}

// mutations break the rules of docs/gc-semantics.md one by one. One changes nothing that
// follows from a DELETE, since the collector has handled such objects before the user's first
// request: it needs another command than delete.
var mutations = []mutation{
	{
		"an owner that waits for its dependents counts as solid", "delete", "doubled references", "assessment.go",
		"for i, v := range verdicts {\n\t\tswitch v {",
		"for i, v := range verdicts {\n\t\tif v == VerdictWaiting {\n\t\t\tv = VerdictSolid\n\t\t}\n\t\tswitch v {",
	},
	{
		"a dangling reference beside a solid one deletes the object", "delete", "doubled references", "assessment.go",
		"if a.solid > 0 {",
		"if false {",
	},
	{
		"an owner that cannot be resolved does not keep the object", "delete", "doubled references", "decide.go",
		"case a.UndecidableReference >= 0 || a.unknown:",
		"case a.unknown:",
	},
	{
		"a cluster-scoped object with a namespaced owner is deleted", "delete", "anything", "judge.go",
		"out.Verdict, out.Cause = VerdictScopeError, CauseClusterToNamespaced",
		"out.Verdict, out.Cause = VerdictDangling, CauseClusterToNamespaced",
	},
	{
		"the finalizers of an object do not change the policy of its deletion", "delete", "chains", "decide.go",
		"return Decision{Action: ActionDelete, Policy: ownPolicy(o)}",
		"return Decision{Action: ActionDelete, Policy: metav1.DeletePropagationBackground}",
	},
	{
		"the foreground finalizer is removed although dependents block the deletion", "delete", "foreground with held owners", "decide.go",
		"case in.Blockers > 0:",
		"case false:",
	},
	{
		"the orphan finalizer is removed before the references of the dependents", "delete", "orphans and foreground together", "decide.go",
		"case orphaning && in.Dependents > 0:",
		"case false:",
	},
	{
		"breaking a cycle leaves every reference blocking", "delete", "cycles", "decide.go",
		"return r.Blocks() && (first || in.Custom || in.Actor == ActorClient)",
		"return false && first",
	},
	{
		"an object with dependents is deleted in the background when its owner waits", "delete", "foreground with held owners", "decide.go",
		"return Decision{Action: ActionDelete, Policy: metav1.DeletePropagationForeground}",
		"return Decision{Action: ActionDelete, Policy: metav1.DeletePropagationBackground}",
	},
	{
		"an object with the name of the owner and another UID counts as the owner", "why", "doubled references", "judge.go",
		"if resident != nil && resident.UID == r.UID {",
		"if resident != nil {",
	},
	{
		"the API server accepts every patch", "delete", "unmonitored owners", "validation.go",
		"var controller *object.Reference",
		"if o != nil {\n\t\treturn false\n\t}\n\tvar controller *object.Reference",
	},
}

// failuresLine matches what TestPredictionMatchesUpstreamCollector reports at its end.
var failuresLine = regexp.MustCompile(`(?m)^\s*(?:\S+\.go:\d+: )?failures: (\d+)$`)

// disagreementLine matches a disagreement that is a failure.
var disagreementLine = regexp.MustCompile(`SEED=\d+: (wrong|falsely certain|not backed up|deleted by no order): `)

// TestTheComparisonFailsWithAnAlteredRule compares programs with one broken rule each: every
// comparison must find more failures than one of the unchanged program in the same scenarios,
// which has none with COMMAND=delete. This proves that the comparison can find mistakes.
func TestTheComparisonFailsWithAnAlteredRule(t *testing.T) {
	if os.Getenv(mutationVariable) == "" {
		t.Skip(mutationVariable + " is not set: make oracle-mutation sets it")
	}
	upstream := strings.Join(upstreamCommand(t), " ")
	unchanged := map[string]int{} // failures, by command and kind
	for _, m := range mutations {
		t.Run(m.broken, func(t *testing.T) {
			key := m.command + " " + m.kind
			if _, known := unchanged[key]; !known {
				n, out := m.compare(t, os.Args[0], upstream)
				if n > 0 && m.command == "delete" {
					t.Errorf("the unchanged program fails, so these scenarios prove nothing\n%s", out)
				}
				unchanged[key] = n
			}
			n, out := m.compare(t, m.build(t), upstream)
			if n <= unchanged[key] {
				t.Errorf("not found: %d failures, and %d of the unchanged program\n%s", n, unchanged[key], out)
			}
			t.Logf("COMMAND=%s KIND=%q: %d failures, and %d of the unchanged program", m.command, m.kind, n, unchanged[key])
		})
	}
}

// build returns the test program of this package with the mutation.
func (m mutation) build(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("../../pkg/collector", m.file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%s has %q %d times", m.file, m.old, n)
	}
	dir := t.TempDir()
	changed, overlay, program := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "oracle.test")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{changed: strings.Replace(string(source), m.old, m.new, 1), overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build with a changed %s: %v\n%s", m.file, err, out)
	}
	return program
}

// compare runs TestPredictionMatchesUpstreamCollector of a test program in a separate process,
// with the command and the kind of the mutation. It returns the number of failures, and the
// output. A run that does not complete ends the test.
func (m mutation) compare(t *testing.T, program, upstream string) (int, string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, "-test.run=^TestPredictionMatchesUpstreamCollector$", "-test.v", "-test.timeout="+mutationTimeout)
	run.Env = append(os.Environ(), testcluster.BuildVariable+"=1", "KUBECTL_GC_ORACLE="+upstream, "COMMAND="+m.command, "KIND="+m.kind,
		"SCENARIOS="+mutationScenarios, "ORDERS="+mutationOrders, "SEED=1", "NEEDLESS=", pageVariable+"=")
	out, err := run.CombinedOutput()
	reported := failuresLine.FindSubmatch(out)
	if reported == nil {
		t.Fatalf("the comparison did not complete: %v\n%s", err, out)
	}
	n, err := strconv.Atoi(string(reported[1]))
	if err != nil {
		t.Fatal(err)
	}
	if n > 0 && !disagreementLine.Match(out) {
		t.Fatalf("no disagreement is printed:\n%s", out)
	}
	return n, string(out)
}
