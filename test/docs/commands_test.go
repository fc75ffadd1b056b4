package docs

import (
	"cmp"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write into the pages what the commands said")

// read returns every page by its path in the repository.
func read(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		pages[file] = ""
	}
	must(t, filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			file, _ := filepath.Rel(root, path)
			pages[filepath.ToSlash(file)] = ""
		}
		return err
	}))
	for file := range pages {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		must(t, err)
		pages[file] = string(data)
	}
	return pages
}

// chapter is what is run as one story, which starts with its objects: a page, or a section of a page that
// somebody looks up and does not read from its beginning.
type chapter struct {
	name       string // the page, and the anchor of the section: docs/rules.md#missing-owner
	file, text string
	above      int // lines of the page above it
}

// chapters returns the chapters of all pages, those that need a running collector last, so that the
// collector is switched once.
func chapters(read map[string]string) []chapter {
	var out []chapter
	for file, text := range read {
		next := chapter{name: file, file: file}
		inCode := false
		for i, line := range strings.SplitAfter(text, "\n") {
			inCode = inCode != fence.MatchString(strings.TrimSuffix(line, "\n"))
			if strings.HasPrefix(line, "## ") && !inCode && slices.Contains(lookedUp, file) {
				out = append(out, next)
				next = chapter{name: file + "#" + anchors(line)[0], file: file, above: i}
			}
			next.text += line
		}
		out = append(out, next)
	}
	slices.SortFunc(out, func(a, b chapter) int {
		return cmp.Or(strings.Compare(pages[a.name].collector, pages[b.name].collector), strings.Compare(a.name, b.name))
	})
	return out
}

func TestEveryCommandHasTheDocumentedOutput(t *testing.T) {
	w := newWorld(t)
	for _, c := range chapters(read(t)) {
		name := strings.Replace(c.name, "#", "/", 1) // it becomes a part of the home folder, which nobody should have to quote
		t.Run(name, func(t *testing.T) { w.visit(t, c) })
	}
}

// replaceNames replaces names in a text, the longest first.
func replaceNames(text string, names map[string]string) string {
	byLength := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, n := range byLength {
		pairs = append(pairs, n, names[n])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

var plugin = regexp.MustCompile(`^(?:kubectl gc|bin/kubectl-gc) ([a-z]+)`)

// exitsAsExpected reports whether the exit code of a command is one that its page may have. Exit
// code 1 is expected of audit if there are findings, and of a run if something stays blocked.
func exitsAsExpected(chapter string, c command, a answer) bool {
	for _, e := range exitCodes {
		if e.page == chapter && strings.HasPrefix(c.text, e.begins) {
			return a.code == e.code
		}
	}
	if a.code == 1 {
		switch found := plugin.FindStringSubmatch(c.text); {
		case found == nil:
		case found[1] == "audit":
			return true
		case found[1] == "collect" || found[1] == "repair" || found[1] == "finalizer" || found[1] == "delete":
			return strings.Contains(strings.Join(a.output, "\n"), "blocked")
		}
	}
	return a.code == 0
}

// optionalProgram matches programs that some machines do not have.
var optionalProgram = regexp.MustCompile(`(?:^|[|(]\s*)(jq|promtool)\b`)

// isSkipped reports whether a command is not run.
func isSkipped(t *testing.T, chapter string, c command) bool {
	for _, u := range untried {
		if u.page == chapter && strings.HasPrefix(c.text, u.begins) {
			return true
		}
	}
	for _, found := range optionalProgram.FindAllStringSubmatch(c.text, -1) {
		if _, err := exec.LookPath(found[1]); err != nil {
			t.Logf("SKIPPED, NOT TESTED: %s:%d: there is no %s here", chapter, c.line, found[1])
			return true
		}
	}
	return false
}
