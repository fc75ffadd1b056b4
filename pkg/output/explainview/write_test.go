package explainview_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	print "github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var update = flag.Bool("update", false, "rewrite the golden file")

const golden = "testdata/states.txt"

// answer returns the explanation in a state.
func (s state) answer() *explain.Answer {
	g := graph.New(st.New(s.seen...))
	view := explain.NewExplainer(collector.NewJudge(g))
	if n := g.Find(s.asked.UID); g.Object(n) != nil {
		return view.Object(n, s.told)
	}
	gone := s.asked.Identity
	gone.UID = ""
	return view.Gone(gone, s.told, nil)
}

func (s state) written(wide bool) string {
	return s.in(print.AnswerView{Palette: color.New(color.Never, false, false), Wide: wide, Taken: st.Taken, Command: wording.Command})
}

func (s state) in(v print.AnswerView) string {
	var out bytes.Buffer
	if err := v.Write(&out, s.answer()); err != nil {
		return err.Error()
	}
	return out.String()
}

// TestStates compares every answer with testdata/states.txt. A reader who is new to owner
// references should understand every sentence there.
func TestStates(t *testing.T) {
	var got strings.Builder
	names := map[string]bool{}
	for _, s := range states {
		if names[s.name] {
			t.Errorf("two states are called %q", s.name)
		}
		names[s.name] = true
		fmt.Fprintf(&got, "### %s\n%s\n", s.name, s.written(false))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got; go test ./pkg/output/explainview -update)\n%s", diff)
	}
}

func TestCommandsAreQuotedForTheUsersShell(t *testing.T) {
	s := about("an object with a space in its name", st.Role("shop/a role"))
	for want, command := range map[string]func(...string) string{
		"'role/a role'": wording.Command,
		`"role/a role"`: wording.CommandOnWindows,
	} {
		if got := s.in(print.AnswerView{Palette: color.New(color.Never, false, false), Taken: st.Taken, Command: command}); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
