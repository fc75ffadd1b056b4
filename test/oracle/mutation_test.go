package oracle

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/mutation"
)

// brokenProgram is a change of this program that breaks one rule of the collector.
type brokenProgram struct {
	broken   string // what the changed program does
	command  string // that says something wrong then: what is compared
	kind     string // of the scenarios
	file     string // in pkg/collector
	old, new string // old occurs exactly once in the file
}

// mutations break the rules of docs/gc-semantics.md one by one. One changes nothing that
// follows from a DELETE, since the collector has handled such objects before the user's first
// request: it needs another command than delete.
var mutations = []brokenProgram{
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

// disagreement matches a failure that the comparison prints.
var disagreement = regexp.MustCompile(`SEED=\d+: (wrong|falsely certain|not backed up|deleted by no order): `)

// TestTheComparisonFailsWithABrokenRule compares this program, which must pass, and then a program
// with one broken rule, which must not. This proves that the comparison can find mistakes.
func TestTheComparisonFailsWithABrokenRule(t *testing.T) {
	upstream := ""
	if mutation.Requested() {
		upstream = Program(t)
	}
	for _, m := range mutations {
		t.Run(m.broken, func(t *testing.T) {
			overlay := mutation.Overlay(t, "collector/"+m.file, m.old, m.new)
			if out, err := m.compare(t, upstream); err != nil {
				t.Fatalf("the unchanged program fails: %v\n%s", err, out)
			}
			if out, err := m.compare(t, upstream, "-overlay="+overlay); err == nil || !disagreement.Match(out) {
				t.Errorf("not found: %v\n%s", err, out)
			}
		})
	}
}

// compare runs TestPredictionMatchesUpstreamCollector with the command and the kind of the mutation.
func (m brokenProgram) compare(t *testing.T, upstream string, flags ...string) ([]byte, error) {
	t.Helper()
	args := append([]string{"test", "-count=1", "-vet=off", "-timeout=5m", "-run=^TestPredictionMatchesUpstreamCollector$"}, flags...)
	run := exec.CommandContext(t.Context(), "go", append(args, ".")...)
	run.Env = append(os.Environ(), ProgramVariable+"="+upstream, "COMMAND="+m.command, "KIND="+m.kind, "SCENARIOS=300", "ORDERS=10", "SEED=1")
	return run.CombinedOutput()
}
