package planview_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var row = regexp.MustCompile(`^(next run|then delete|[\w-]*) +(?:a|b|-|) *[│├└─ ]*(\w+/[\w.]+|\d+ objects?)`)

// shown returns the objects of a preview's lines, or how many objects a line counts, and
// how many more lines there are.
func shown(t *rapid.T, p *plan.Plan, limit int) (objects []string, more int) {
	var out bytes.Buffer
	if _, err := planview.Preview(&out, p, limit, color.New(color.Never, false, false)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")[1:]
	for _, line := range lines {
		if rest, counted := strings.CutPrefix(line, "… and "); counted {
			number, _, _ := strings.Cut(rest, " ")
			more, _ = strconv.Atoi(number)
			continue
		}
		found := row.FindStringSubmatch(line)
		if found == nil {
			t.Fatalf("not a row: %q", line)
		}
		what := found[2]
		if found[1] == "blocked" || found[1] == "next run" || found[1] == "then delete" {
			what = found[1] + " " + what
		}
		objects = append(objects, what)
	}
	return objects, more
}

func TestPreviewShowsEveryStepOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plan.New(collector.NewJudge(graph.New(Draw(t))), plan.CollectPurpose(nil))
		var want []string
		own, ends := map[object.Identity]bool{}, map[object.Identity]bool{}
		for _, s := range p.Steps {
			ends[s.Object.Identity] = ends[s.Object.Identity] || s.Action == plan.ActionDelete || s.Action == plan.ActionRemoveFinalizer
			if o := s.Object.Identity; !own[o] {
				own[o] = true
				want = append(want, o.String())
			}
		}
		contents := 0
		terminating := map[object.Identity]bool{} // whose row says what blocks them
		for _, o := range p.Outcomes {
			switch {
			case o.When == plan.Later && o.Follows == "" && !own[o.Object]:
				want = append(want, "next run "+o.Object.String())
			case o.When == plan.Later && !own[o.Object]:
				want = append(want, "then delete "+o.Object.String())
			case !own[o.Object]:
				contents++
			}
			terminating[o.Object] = o.State == plan.Terminating && ends[o.Object]
		}
		for _, b := range p.Blocked {
			if !terminating[b.Object] {
				want = append(want, "blocked "+b.Object.String())
			}
		}

		all, none := shown(t, p, 0)
		var got []string
		for _, what := range all {
			if number, _, counts := strings.Cut(what, " object"); counts {
				n, _ := strconv.Atoi(number)
				contents -= n
				continue
			}
			got = append(got, what)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || none != 0 || contents != 0 {
			t.Fatalf("(-want +got), and %d more, %d contents\n%s", none, contents, diff)
		}

		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		some, more := shown(t, p, limit)
		first := min(limit, len(all)) // then follows what has to be named, with contents that all counts
		if len(some)+more < len(all) || len(some) < first || !slices.Equal(some[:first], all[:first]) {
			t.Fatalf("limit %d: %d lines and %d more of %d", limit, len(some), more, len(all))
		}

		counted := 0
		sum, _, _ := strings.Cut(planview.SummaryLine(p, ""), ".")
		sum, _, _ = strings.Cut(sum, ";")
		for _, word := range strings.FieldsFunc(sum, func(r rune) bool { return r == ' ' || r == ',' }) {
			if n, err := strconv.Atoi(word); err == nil {
				counted += n
			}
		}
		if counted != len(p.Steps) {
			t.Fatalf("%s counts %d of %d steps", sum, counted, len(p.Steps))
		}
	})
}

// A plan from a file may claim any order of steps.
func TestPreviewShowsEveryStepOfAnInvalidPlanOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &plan.Plan{}
		names := map[string]bool{}
		for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"q", "r", "s", "t", "u"}).Draw(t, "name")
			names["Pod/"+name] = true
			p.Steps = append(p.Steps, plan.Step{
				ID: fmt.Sprint(i), Follows: fmt.Sprint(rapid.IntRange(-1, 12).Draw(t, "follows")),
				Action: rapid.SampledFrom([]plan.Action{plan.ActionDelete, plan.ActionUnlink, plan.ActionUnblock, plan.ActionRemoveFinalizer, "odd"}).Draw(t, "action"), Reason: saying("why"),
				Object: plan.ObjectState{Identity: object.Identity{Kind: "Pod", Namespace: "a", Name: name}},
			})
		}
		got, _ := shown(t, p, 0)
		if len(got) != len(names) {
			t.Fatalf("got %v, want %v", got, names)
		}
		for _, o := range got {
			if !names[o] {
				t.Fatalf("got %v, want %v", got, names)
			}
			delete(names, o)
		}
	})
}
