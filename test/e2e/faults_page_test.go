package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docgen"
	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

func TestPageHasFiguresOfAllRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	begins, ends := docgen.Marks("faults")
	if err := os.WriteFile(path, []byte(begins+ends), 0o600); err != nil {
		t.Fatal(err)
	}
	figures := newStatistics(1, proxy.Kinds())
	figures.Runs, figures.Kinds[proxy.Lost] = 7, 12
	figures.Done = make([]uint64, 9)
	figures.add(1, &verdict{copyResult: &copyResult{faults: proxy.NewFaultInjector(1, nil, nil)}, nondeterministic: []string{"one", "two"}}, true)
	if err := figures.write(path, "faults", faultsSection); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| runs under faults | 8 |", "| answer of a write lost | 12 |", "| runs that could not be evaluated | 2 |", "may do or not | 2 |", "wrong deletes | 0 |"} {
		if !strings.Contains(string(got), line) {
			t.Errorf("the page lacks %q", line)
		}
	}
}
