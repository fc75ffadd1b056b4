package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

func TestTheFiguresLeaveTheRestOfThePageAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	figures := newTally()
	figures.Runs, figures.Kinds[proxy.Lost] = 7, 12
	if err := os.WriteFile(path, []byte("# Head\n"+pageBegins+"earlier figures\n"+pageEnds+"\nTail\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := figures.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(got)
	if !strings.HasPrefix(page, "# Head\n"+pageBegins) || !strings.HasSuffix(page, pageEnds+"\nTail\n") || strings.Contains(page, "earlier figures") {
		t.Errorf("the page is %s", page)
	}
	for _, line := range []string{"| runs under faults | 7 |", "| answer of a write lost | 12 |"} {
		if !strings.Contains(page, line) {
			t.Errorf("it lacks %q", line)
		}
	}
	if err := os.WriteFile(path, []byte("nothing to replace"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := figures.write(path); err == nil {
		t.Error("it writes into a page without a place for it")
	}
}
