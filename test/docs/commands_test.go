package docs

import (
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
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "plugins/README.md"} {
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

// order has those pages last for which the collector has to be on: then it is switched once.
func order(read map[string]string) []string {
	return slices.SortedFunc(maps.Keys(read), func(a, b string) int {
		if pages[a].collector != pages[b].collector {
			return strings.Compare(pages[a].collector, pages[b].collector)
		}
		return strings.Compare(a, b)
	})
}

func TestEveryCommandRunsAndSaysWhatThePageShows(t *testing.T) {
	w := begin(t)
	all := read(t)
	for _, file := range order(all) {
		t.Run(file, func(t *testing.T) {
			w.visited(t, file, all[file])
		})
	}
}

// swapped is a text with other names for things, the longest first.
func swapped(text string, names map[string]string) string {
	byLength := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, n := range byLength {
		pairs = append(pairs, n, names[n])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

var plugin = regexp.MustCompile(`^(?:kubectl gc|bin/kubectl-gc) ([a-z]+)`)

// fine tells if a command ended as its page may have it. 1 is an answer of audit, that there
// are findings, and of a run, that something stays blocked.
func fine(file string, c command, a answer) bool {
	for _, e := range endings {
		if e.page == file && strings.HasPrefix(c.text, e.begins) {
			return a.code == e.code
		}
	}
	if a.code == 1 {
		switch found := plugin.FindStringSubmatch(c.text); {
		case found == nil:
		case found[1] == "audit":
			return true
		case found[1] == "collect" || found[1] == "repair" || found[1] == "delete":
			return strings.Contains(strings.Join(a.said, "\n"), "blocked")
		}
	}
	return a.code == 0
}

// lacking finds programs that a command needs and that not every machine has.
var lacking = regexp.MustCompile(`(?:^|[|(]\s*)(jq|dot|promtool)\b`)

// spared tells if a command is not run.
func spared(t *testing.T, file string, c command) bool {
	for _, u := range untried {
		if u.page == file && strings.HasPrefix(c.text, u.begins) {
			return true
		}
	}
	for _, found := range lacking.FindAllStringSubmatch(c.text, -1) {
		if _, err := exec.LookPath(found[1]); err != nil {
			t.Logf("SKIPPED, NOT TESTED: %s:%d: there is no %s here", file, c.line, found[1])
			return true
		}
	}
	return false
}
