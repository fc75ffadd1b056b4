package archtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/conformance.md")

const document = "../../docs/conformance.md"

// named is a test, or a subtest, whose name begins with the id of a scenario.
type named struct {
	folder, test string
	part         string // prefix of the subtest's name; empty for a whole test
}

// TestConformance finds the tests of each scenario, runs those that need no control plane, and
// compares docs/conformance.md with the results. With -update it writes that page.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("runs tests of other packages")
	}
	found, tests := scan(t, "../../pkg"), map[string]bool{}
	for id, more := range scan(t, "../../test/e2e") {
		found[id] = append(found[id], more...)
	}
	known := map[string]bool{}
	pure := map[string]map[string]bool{} // tests by package
	need := func(folder, test string) {
		if pure[folder] == nil {
			pure[folder] = map[string]bool{}
		}
		pure[folder][test] = true
	}
	for _, list := range lists {
		for _, s := range list.scenarios {
			known[s.id] = true
			for _, cited := range s.tests {
				folder, test, _ := strings.Cut(cited, " ")
				need(folder, test)
			}
			for _, n := range found[s.id] {
				if !n.real() {
					need(n.folder, n.test)
				}
			}
			if s.notApplicable == "" && !s.real && len(s.tests) == 0 && !slices.ContainsFunc(found[s.id], func(n named) bool { return !n.real() }) {
				t.Errorf("no test has the id %s in its name: %s", s.id, s.what)
			}
			if s.notApplicable != "" && len(found[s.id]) > 0 {
				t.Errorf("%s does not apply, but is tested by %s", s.id, found[s.id][0].test)
			}
		}
	}
	for id, cited := range found {
		if !known[id] {
			t.Errorf("%s tests %s, which is in no list", cited[0].test, id)
		}
	}
	for folder, wanted := range pure {
		for test := range passed(t, folder, wanted) {
			tests[folder+" "+test] = true
		}
	}
	for _, list := range lists {
		for _, s := range list.scenarios {
			for _, cited := range s.tests {
				if !tests[cited] {
					t.Errorf("%s: %s did not pass", s.id, cited)
				}
			}
			for _, n := range found[s.id] {
				if !n.real() && !n.among(tests) {
					t.Errorf("%s: no subtest %q of %s in %s passed", s.id, n.part, n.test, n.folder)
				}
			}
		}
	}
	if t.Failed() {
		return
	}
	want := page(found)
	if *update {
		if err := os.WriteFile(document, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(document); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/conformance.md is not up to date (%v): go test ./test/archtest -run Conformance -update", err)
	}
}

func (n named) real() bool { return strings.HasPrefix(n.folder, "test/") }

func (n named) among(passed map[string]bool) bool {
	if n.part == "" {
		return passed[n.folder+" "+n.test]
	}
	prefix := n.folder + " " + n.test + "/" + strings.ReplaceAll(n.part, " ", "_")
	for test := range passed {
		if strings.HasPrefix(test, prefix) {
			return true
		}
	}
	return false
}

var (
	partOf = regexp.MustCompile(`^((?:CD|G|I|L)[0-9]+) `)
	testOf = regexp.MustCompile(`^Test((?:CD|G|I|L)[0-9]+)[A-Z]`)
)

// scan finds, below a directory, the tests whose names begin with an id, and the string literals
// in tests that do.
func scan(t *testing.T, root string) map[string][]named {
	t.Helper()
	out := map[string][]named{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), filepath.FromSlash("../../")))
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			if id := testOf.FindStringSubmatch(f.Name.Name); id != nil {
				out[id[1]] = append(out[id[1]], named{folder, f.Name.Name, ""})
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					if id := partOf.FindStringSubmatch(text); id != nil {
						out[id[1]] = append(out[id[1]], named{folder, f.Name.Name, text})
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// passed runs tests of a package and returns the names of those that passed, with their subtests,
// as go test prints them.
func passed(t *testing.T, folder string, tests map[string]bool) map[string]bool {
	t.Helper()
	names := []string{}
	for test := range tests {
		names = append(names, test)
	}
	slices.Sort(names)
	out, err := exec.Command("go", "test", "-json", "-run", "^("+strings.Join(names, "|")+")$", module+folder).Output()
	if err != nil {
		t.Errorf("go test %s: %v", folder, err)
	}
	passed := map[string]bool{}
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test string }
		if json.Unmarshal(line, &event) == nil && event.Action == "pass" {
			passed[event.Test] = true
		}
	}
	return passed
}

func page(found map[string][]named) []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, `# Conformance

Every scenario with which Kubernetes tests its own garbage collector, some more that follow from its rules, and the tests here.
Generated by `+"`go test ./test/archtest -run Conformance -update`"+`, which runs all tests of the kind "pure" and writes the page only
if they pass. Tests of the kind "real" run on a control plane, with `+"`make test`"+`.
[upstream](upstream.md) compares the predictions with upstream's collector on random scenarios.
`)
	for _, list := range lists {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| id | scenario | kind | tested by | state |\n| --- | --- | --- | --- | --- |\n", list.title, list.text)
		for _, s := range list.scenarios {
			kind, testedBy, state := s.row(found[s.id])
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.id, s.what, kind, testedBy, state)
		}
	}
	return b.Bytes()
}

// row returns the kinds of a scenario's tests, their names, and whether they pass.
func (s scenario) row(found []named) (kind, testedBy, state string) {
	if s.notApplicable != "" {
		return "not applicable", s.notApplicable, ""
	}
	var where, kinds []string
	add := func(folder, test, kind string) {
		where = append(where, fmt.Sprintf("`%s` %s", folder, test))
		kinds = append(kinds, kind)
	}
	for _, cited := range s.tests {
		folder, test, _ := strings.Cut(cited, " ")
		add(folder, test, "pure")
	}
	for _, n := range found {
		kind := "pure"
		if n.real() {
			kind = "real"
		}
		add(n.folder, n.test, kind)
	}
	slices.Sort(where)
	slices.Sort(kinds)
	where, kinds = slices.Compact(where), slices.Compact(kinds)
	state = "passes"
	switch {
	case len(kinds) == 0:
		return "real", "no test yet: it needs a real API server", "not tested"
	case slices.Equal(kinds, []string{"real"}):
		state = "see `make test`"
	}
	return strings.Join(kinds, ", "), strings.Join(where, "<br>"), state
}
