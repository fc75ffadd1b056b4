package e2e

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docgen"
	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

//go:embed lies.md.tmpl
var liesSection string

func TestPageHasFiguresOfAllRunsUnderLies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	begins, ends := docgen.Marks("lies")
	if err := os.WriteFile(path, []byte(begins+ends), 0o600); err != nil {
		t.Fatal(err)
	}
	figures := newStatistics(1, proxy.Lies())
	figures.Kinds[proxy.HTML] = 12
	for seed := range uint64(3) {
		honest := &copyResult{liar: proxy.NewLiar(seed, proxy.Facts{Objects: []proxy.Object{{UID: "some"}}, Requests: proxy.Tables})}
		figures.add(seed, &verdict{copyResult: honest, peak: 70 << 20, unproven: []string{"one", "two"}, falseSuccess: []string{"one", "two"}}, true)
	}
	if err := figures.write(path, "lies", liesSection); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| runs under lies | 3 |", "| of these without any lie, by chance | 3 |", "| 200 with HTML | 12 |", "used at most 70 MiB of memory",
		"| finalizers removed without proof | 6 |", "| runs that ended with exit code 0 although not everything was done | 3 |", "| wrong deletes | 0 |",
	} {
		if !strings.Contains(string(got), line) {
			t.Errorf("the page lacks %q", line)
		}
	}
}
