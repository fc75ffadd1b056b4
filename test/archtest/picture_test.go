package archtest

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nodeOf returns the name of a package in the picture of docs/architecture.md; empty if it is not
// drawn. The package is a path below the module or below pkg.
func nodeOf(name string) string {
	name = strings.TrimPrefix(name, "pkg/")
	if strings.HasSuffix(name, "test") || name == "docs" || strings.HasPrefix(name, "docs/") { // docs are embedded files
		return ""
	}
	if name == "cmd/kubectl-gc" {
		return "kubectl-gc"
	}
	first, _, _ := strings.Cut(name, "/")
	return first
}

// reduced returns the imports in the table that do not follow from other imports, as "imported
// --> importer".
func reduced() []string {
	imports := map[string]map[string]bool{}
	for path, may := range table {
		name := nodeOf(path)
		if name == "" {
			continue
		}
		if imports[name] == nil {
			imports[name] = map[string]bool{}
		}
		for _, own := range strings.Fields(may.own) {
			if to := nodeOf(own); to != name && to != "" {
				imports[name][to] = true
			}
		}
	}
	var below func(name string) map[string]bool
	below = func(name string) map[string]bool {
		all := maps.Clone(imports[name])
		for next := range imports[name] {
			maps.Copy(all, below(next))
		}
		return all
	}
	var out []string
	for name, direct := range imports {
		for to := range direct {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(direct)), func(other string) bool { return other != to && below(other)[to] }) {
				out = append(out, to+" --> "+name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestPictureMatchesImportTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	picture := regexp.MustCompile("(?s)```mermaid\n(.*?)```").FindSubmatch(page)
	if picture == nil {
		t.Fatal("there is no picture")
	}
	var got []string
	for line := range strings.Lines(string(picture[1])) {
		names := strings.Split(strings.TrimSpace(line), " --> ")
		for i := 1; i < len(names); i++ {
			got = append(got, names[i-1]+" --> "+names[i])
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(reduced(), got); diff != "" {
		t.Errorf("what follows from the table (-) and what is drawn (+):\n%s", diff)
	}
}
