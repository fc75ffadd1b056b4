package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// events returns the output of go test -json for lines of action and test.
func events(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		action, test, _ := strings.Cut(line, " ")
		b.WriteString(`{"Action":"output","Test":"` + test + `","Output":"output of ` + test + `\n"}` + "\n")
		b.WriteString(`{"Action":"` + action + `","Test":"` + test + `"}` + "\n")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		lines   []string
		want    map[string]suiteResult // by suite; the others have no runs
		printed []string               // tests whose output is printed
	}{
		"a test without subtests is a run": {
			lines: []string{"run TestRepairChangesOnlyIntendedReferences", "pass TestRepairChangesOnlyIntendedReferences", "pass "},
			want:  map[string]suiteResult{"repair": {Runs: 1}},
		},
		"subtests are runs, their parents are not": {
			lines:   []string{"pass TestDifferentialCollect/1", "fail TestDifferentialCollect/2", "fail TestDifferentialCollect"},
			want:    map[string]suiteResult{"collect, random graphs": {Runs: 2, Mismatches: []string{"TestDifferentialCollect/2"}}},
			printed: []string{"TestDifferentialCollect/2"},
		},
		"a parent that fails by itself is a mismatch": {
			lines:   []string{"pass TestDifferentialCollect/1", "fail TestDifferentialCollect"},
			want:    map[string]suiteResult{"collect, random graphs": {Runs: 2, Mismatches: []string{"TestDifferentialCollect"}}},
			printed: []string{"TestDifferentialCollect"},
		},
		"subtests of one test belong to two suites": {
			lines: []string{"pass TestDeleteEndsAsPredicted/a_Namespace", "pass TestDeleteEndsAsPredicted/a_Job", "pass TestDeleteEndsAsPredicted"},
			want:  map[string]suiteResult{"namespaces": {Runs: 1}, "delete, every kind": {Runs: 1}},
		},
		"a failure outside of all tests is only printed": {
			lines:   []string{"fail "},
			want:    map[string]suiteResult{},
			printed: []string{""},
		},
		"a skipped test is not a run": {
			lines: []string{"skip TestDifferentialRepair"},
			want:  map[string]suiteResult{"repair": {Skipped: []string{"TestDifferentialRepair"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			results, err := parse(strings.NewReader(events(c.lines...)), &out)
			if err != nil {
				t.Fatal(err)
			}
			counted := map[string]suiteResult{}
			for _, r := range results {
				if r.Runs+len(r.Skipped) > 0 {
					counted[r.Suite.Name] = r
				}
			}
			if diff := cmp.Diff(c.want, counted, cmpopts.IgnoreFields(suiteResult{}, "Suite")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			want := ""
			for _, test := range c.printed {
				want += "output of " + test + "\n"
			}
			got := regexp.MustCompile(`(?m)^  .*\n`).ReplaceAllString(out.String(), "") // without the lines of all tests
			if got != want {
				t.Errorf("printed %q, want %q", got, want)
			}
		})
	}
}
