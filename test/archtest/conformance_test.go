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

var update = flag.Bool("update", false, "write docs/conformance.md anew")

const document = "../../docs/conformance.md"

// named is a test, or a part of one, that bears a scenario's id.
type named struct {
	room, test string
	part       string // how the subtest's name begins; empty for a whole test
}

// TestConformance finds who tests each scenario, runs the tests that need no
// control plane, and holds docs/conformance.md against what it found. With
// -update it writes that page.
func TestConformance(t *testing.T) {
	found, tests := scan(t, "../../pkg"), map[string]bool{}
	for id, more := range scan(t, "../../test/e2e") {
		found[id] = append(found[id], more...)
	}
	known := map[string]bool{}
	pure := map[string]map[string]bool{} // package to its tests
	need := func(room, test string) {
		if pure[room] == nil {
			pure[room] = map[string]bool{}
		}
		pure[room][test] = true
	}
	for _, list := range lists {
		for _, s := range list.scenarios {
			known[s.id] = true
			for _, by := range s.by {
				room, test, _ := strings.Cut(by, " ")
				need(room, test)
			}
			for _, n := range found[s.id] {
				if !n.real() {
					need(n.room, n.test)
				}
			}
			if s.not == "" && !s.real && len(s.by) == 0 && !slices.ContainsFunc(found[s.id], func(n named) bool { return !n.real() }) {
				t.Errorf("no test bears the id %s: %s", s.id, s.what)
			}
			if s.not != "" && len(found[s.id]) > 0 {
				t.Errorf("%s is said not to apply, and is tested by %s", s.id, found[s.id][0].test)
			}
		}
	}
	for id, by := range found {
		if !known[id] {
			t.Errorf("%s tests %s, which is in no list", by[0].test, id)
		}
	}
	for room, wanted := range pure {
		for test := range passed(t, room, wanted) {
			tests[room+" "+test] = true
		}
	}
	for _, list := range lists {
		for _, s := range list.scenarios {
			for _, by := range s.by {
				if !tests[by] {
					t.Errorf("%s: %s did not pass", s.id, by)
				}
			}
			for _, n := range found[s.id] {
				if !n.real() && !n.among(tests) {
					t.Errorf("%s: no subtest %q of %s in %s passed", s.id, n.part, n.test, n.room)
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

func (n named) real() bool { return strings.HasPrefix(n.room, "test/") }

func (n named) among(passed map[string]bool) bool {
	if n.part == "" {
		return passed[n.room+" "+n.test]
	}
	prefix := n.room + " " + n.test + "/" + strings.ReplaceAll(n.part, " ", "_")
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

// scan finds the tests below a directory whose names begin with an id, and the
// texts in tests which do.
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
		room := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), filepath.FromSlash("../../")))
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			if id := testOf.FindStringSubmatch(f.Name.Name); id != nil {
				out[id[1]] = append(out[id[1]], named{room, f.Name.Name, ""})
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					if id := partOf.FindStringSubmatch(text); id != nil {
						out[id[1]] = append(out[id[1]], named{room, f.Name.Name, text})
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

// passed runs those tests of a package and answers which passed, with their
// subtests, as they are named by go test.
func passed(t *testing.T, room string, tests map[string]bool) map[string]bool {
	t.Helper()
	names := []string{}
	for test := range tests {
		names = append(names, test)
	}
	slices.Sort(names)
	out, err := exec.Command("go", "test", "-json", "-run", "^("+strings.Join(names, "|")+")$", module+room).Output()
	if err != nil {
		t.Errorf("go test %s: %v", room, err)
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

Every scenario by which Kubernetes tests its own garbage collector, some that follow from its rules, and who tests it here.
Generated by `+"`go test ./test/archtest -run Conformance -update`"+`, which runs every test named for the kind "pure": it passed, or
this page would not be. Those of the kind "real" run on a control plane, with `+"`make test`"+`.
`)
	for _, list := range lists {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| id | scenario | kind | tested by | state |\n| --- | --- | --- | --- | --- |\n", list.title, list.text)
		for _, s := range list.scenarios {
			kind, by, state := s.row(found[s.id])
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.id, s.what, kind, by, state)
		}
	}
	return b.Bytes()
}

// row says of what kind a scenario's tests are, which they are, and whether they pass.
func (s scenario) row(found []named) (kind, by, state string) {
	if s.not != "" {
		return "not applicable", s.not, ""
	}
	var where, kinds []string
	add := func(room, test, kind string) {
		where = append(where, fmt.Sprintf("`%s` %s", room, test))
		kinds = append(kinds, kind)
	}
	for _, by := range s.by {
		room, test, _ := strings.Cut(by, " ")
		add(room, test, "pure")
	}
	for _, n := range found {
		kind := "pure"
		if n.real() {
			kind = "real"
		}
		add(n.room, n.test, kind)
	}
	slices.Sort(where)
	slices.Sort(kinds)
	where, kinds = slices.Compact(where), slices.Compact(kinds)
	state = "passes"
	switch {
	case len(kinds) == 0:
		return "real", "nobody yet: it needs an API server's answers", "not tested"
	case slices.Equal(kinds, []string{"real"}):
		state = "see `make test`"
	}
	return strings.Join(kinds, ", "), strings.Join(where, "<br>"), state
}
