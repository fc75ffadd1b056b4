package oracle

import (
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/docgen"
)

// pageVariable names the page that TestPredictionMatchesUpstreamCollector writes its counts into.
const pageVariable = "UPSTREAM_PAGE"

//go:embed upstream.md.tmpl
var comparisonSection string

// pageFigures are what the page says about one comparison.
type pageFigures struct {
	Scenarios, First, Last, Orders int
	Counts                         *Counts
}

func writePage(path string, f pageFigures) error {
	return docgen.Fill(path, "comparison", comparisonSection, f)
}

func TestPageHasTheCountsOfEveryKind(t *testing.T) {
	page, err := os.ReadFile("../../docs/upstream.md")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, page, 0o600); err != nil {
		t.Fatal(err)
	}
	counts := NewCounts()
	pool := fakePool(t, time.Minute)
	for i, k := range Kinds {
		result, err := Checker{Ask: pool.Ask, Orders: 2}.Check(t.Context(), Draw(k, uint64(i)), 1)
		if err != nil {
			t.Fatal(err)
		}
		counts.Add(k, result)
	}
	if err := writePage(path, pageFigures{Scenarios: len(Kinds), First: 5, Last: 17, Orders: 2, Counts: counts}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"SCENARIOS=13 ORDERS=2 SEED=5", "5 to 17", "| all | 13 |"}
	for _, k := range Kinds {
		want = append(want, "\n| "+k.Name+" | 1 |")
	}
	for _, w := range want {
		if !strings.Contains(string(got), w) {
			t.Errorf("the page lacks %q:\n%s", w, got)
		}
	}
}
