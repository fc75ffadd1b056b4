package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// rulesPage is the page with the rules of the garbage collector. Code cites them by heading.
const rulesPage = "gc-semantics.md"

var (
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	// Code cites a page with its path; another page may omit the path.
	citation = regexp.MustCompile(`(docs/)?\b([\w/-]+\.md)(#[\w-]*(?:(?:,| and) #[a-z][\w-]*)*)`)
	anchorOf = regexp.MustCompile(`#([\w-]*)`)
)

// TestCitationsOfRulesAreValid checks comments, strings, templates and pages.
func TestCitationsOfRulesAreValid(t *testing.T) {
	headings := map[string][]string{}
	has := func(page, anchor string) bool {
		if headings[page] == nil {
			text, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(page)))
			if err != nil {
				return false
			}
			headings[page] = anchors(string(text))
		}
		return slices.Contains(headings[page], anchor)
	}
	cited := 0
	for _, root := range []string{"cmd", "pkg", "test", "docs", "plugins", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "semantics_test.go" {
				return err
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			texts := []string{string(source)}
			switch {
			case strings.HasSuffix(file, ".go"):
				texts, err = commentsAndStrings(file, source)
			case !slices.Contains([]string{".md", ".tmpl", ".txtar", ".yaml", ".yml"}, filepath.Ext(file)):
				return nil
			}
			for _, text := range texts {
				cited += strings.Count(text, rulesPage+"#")
				for _, problem := range badCitations(text, has) {
					t.Errorf("%s: %s", filepath.ToSlash(file), problem)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if cited == 0 {
		t.Error("no citation was found")
	}
}

func TestBadCitations(t *testing.T) {
	has := func(page, anchor string) bool { return page == rulesPage && anchor == "absent-owner" }
	for text, want := range map[string]string{
		"// It is gone (docs/gc-semantics.md#absent-owner).":  "",
		"see [the rule](../gc-semantics.md#absent-owner)":     "",
		"// since 1.34 (1.34 to 1.36, or 1.9.1)":              "",
		"// Its rules are in docs/gc-semantics.md.":           "",
		"// docs/gc-semantics.md#absent-owners":               "there is no docs/gc-semantics.md#absent-owners",
		"see [the rule](gc-semantics.md#)":                    "there is no docs/gc-semantics.md#",
		"// docs/gc-semantics.md#absent-owner and\n#no-owner": "there is no docs/gc-semantics.md#no-owner",
		"// docs/differences.md#nothing":                      "there is no docs/differences.md#nothing",
		"// gc-semantics, vocabulary":                         "gc-semantics is not a page",
	} {
		if got := strings.Join(badCitations(text, has), "; "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// badCitations returns the errors in the citations of a text.
func badCitations(text string, has func(page, anchor string) bool) (problems []string) {
	for _, found := range citation.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
		page := found[2]
		if path.Base(page) == rulesPage {
			page = rulesPage // a page may cite it by a relative path
		} else if found[1] == "" {
			continue // a link within docs; test/docs checks those
		}
		for _, anchor := range anchorOf.FindAllStringSubmatch(found[3], -1) {
			if !has(page, anchor[1]) {
				problems = append(problems, fmt.Sprintf("there is no docs/%s#%s", page, anchor[1]))
			}
		}
	}
	if strings.Count(text, "gc-semantics") > strings.Count(text, rulesPage) {
		problems = append(problems, "gc-semantics is not a page")
	}
	return problems
}

// anchors returns the anchors that GitHub gives to the headings of a page.
func anchors(page string) (out []string) {
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		out = append(out, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, found[1]))
	}
	return out
}

// commentsAndStrings returns the comments and the string literals of a Go file.
func commentsAndStrings(name string, source []byte) (texts []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, group := range file.Comments {
		texts = append(texts, group.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING {
			texts = append(texts, text.Value)
		}
		return true
	})
	return texts, nil
}

var (
	// Functions of upstream, as in: `Sync` and `Run` in [`garbagecollector.go`].
	functions = regexp.MustCompile("((?:`\\w+`(?:, | and )?)+) in \\[`([^`]+)`\\]")
	// The location of a file of upstream, as a Markdown link definition.
	definition = regexp.MustCompile("(?m)^\\[`([^`]+)`\\]: https://github\\.com/kubernetes/kubernetes/blob/(v[\\d.]+)/(\\S+)$")
)

// TestCitedUpstreamFunctionsExist looks each function up in upstream's source, if that was
// downloaded to build the control plane.
func TestCitedUpstreamFunctionsExist(t *testing.T) {
	page := read(t, "docs", rulesPage)
	text := strings.Join(strings.Fields(definition.ReplaceAllString(page, "")), " ")
	files, version := map[string]string{}, ""
	for _, found := range definition.FindAllStringSubmatch(page, -1) {
		if version != "" && version != found[2] {
			t.Errorf("%s is of %s, the others of %s", found[1], found[2], version)
		}
		files[found[1]], version = found[3], found[2]
	}
	cited, citations := map[string][]string{}, functions.FindAllStringSubmatch(text, -1)
	for _, found := range citations {
		if files[found[2]] == "" {
			t.Errorf("%s has no link", found[2])
		}
		for _, name := range strings.FieldsFunc(found[1], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if name != "and" {
				cited[found[2]] = append(cited[found[2]], name)
			}
		}
	}
	if all := strings.Count(text, "[`"); len(citations) != all || len(cited) != len(files) {
		t.Errorf("%d of %d citations are understood, and %d of %d links are used", len(citations), all, len(cited), len(files))
	}
	if !strings.Contains(text, "Kubernetes "+strings.TrimPrefix(version, "v")+" ") {
		t.Errorf("the page does not say that it describes %s", version)
	}

	where := upstream(t, slices.Collect(maps.Values(files)))
	if got := where["k8s.io/kubernetes"].version; got != version {
		t.Fatalf("the page cites %s, and test/controlplane builds %s: go through the rules, and change the page", version, got)
	}
	for file, names := range cited {
		module, name := moduleOf(files[file])
		defined, err := functionsIn(filepath.Join(where[module].dir, filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, name := range names {
			if !slices.Contains(defined, name) {
				t.Errorf("%s has no function %s", files[file], name)
			}
		}
	}
}

// moduleOf returns the Go module of a file of kubernetes/kubernetes, and its path there.
func moduleOf(file string) (module, name string) {
	staged, is := strings.CutPrefix(file, "staging/src/")
	if !is {
		return "k8s.io/kubernetes", file
	}
	parts := strings.SplitN(staged, "/", 3)
	return parts[0] + "/" + parts[1], parts[2]
}

type downloaded struct{ version, dir string }

// upstream returns the location of those files in the module cache, by module. It skips the test
// if one is missing, and downloads nothing.
func upstream(t *testing.T, files []string) map[string]downloaded {
	t.Helper()
	modules := []string{}
	for _, file := range files {
		module, _ := moduleOf(file)
		modules = append(modules, module)
	}
	slices.Sort(modules)
	modules = slices.Compact(modules)
	list := exec.Command("go", append([]string{"list", "-C", "../controlplane", "-m", "-f", "{{.Path}} {{.Version}} {{.Dir}}"}, modules...)...)
	list.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := list.Output()
	found := map[string]downloaded{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.SplitN(strings.TrimSpace(line), " ", 3); len(fields) == 3 && fields[2] != "" {
			found[fields[0]] = downloaded{fields[1], fields[2]}
		}
	}
	if len(found) < len(modules) {
		t.Skipf("not checked: the module cache has %d of the %d modules with upstream's source (%v); make builds a control plane from them", len(found), len(modules), err)
	}
	return found
}

// functionsIn returns the names of the functions and methods in a Go file.
func functionsIn(name string) (names []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range file.Decls {
		if f, is := decl.(*ast.FuncDecl); is {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}
