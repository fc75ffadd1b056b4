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

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/test/plane"
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
			w.try(t, file, all[file])
		})
	}
}

// try runs the commands of a page.
func (w *world) try(t *testing.T, file, text string) {
	var tried [][]command
	for _, b := range blocks(text) {
		commands, err := b.commands()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if commands = slices.DeleteFunc(commands, func(c command) bool { return spared(t, file, c) }); len(commands) > 0 {
			tried = append(tried, commands)
		}
	}
	if len(tried) == 0 {
		return
	}
	p := pages[file]
	if p.collector == plane.On {
		must(t, w.loader.Clear(t.Context(), w.empty))
		must(t, w.plane.Collector(t.Context(), plane.On))
		w.loaded = nil
	}
	dir, home, env := w.seat(t)
	names := map[string]string{"/home/you": home}
	maps.Copy(names, p.words)
	prepare := func() {
		w.tell(t, told(file))
		for uid, of := range p.uids {
			if names[uid] = w.uids[of]; names[uid] == "" {
				t.Fatalf("%s is the UID of %q, which is in no manifest", uid, of)
			}
		}
		if p.before == "" {
			return
		}
		if got, err := shell(t.Context(), dir, env, []string{p.before}); err != nil || len(got) == 0 || got[0].code != 0 {
			t.Fatalf("before: %v %v", got, err)
		}
	}
	prepare()
	lines := strings.Split(text, "\n")
	shift := 0 // lines that were added so far
	for i, commands := range tried {
		if i > 0 && p.afresh(file) {
			prepare()
		}
		typed := make([]string, len(commands))
		for i, c := range commands {
			typed[i] = swapped(c.text, names)
		}
		// What a block shows can be spoken of in the next block, or by the next command: a
		// console block is run command by command.
		var answers []answer
		if !commands[0].shows {
			got, err := shell(t.Context(), dir, env, typed)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, commands[0].line, err)
			}
			answers = got
		}
		for i, c := range commands {
			if c.shows {
				got, err := shell(t.Context(), dir, env, []string{swapped(c.text, names)})
				if err != nil {
					t.Fatalf("%s:%d: %v", file, c.line, err)
				}
				answers = append(answers, got...)
			}
			if i >= len(answers) {
				t.Errorf("%s:%d: an earlier command ends the shell before %q", file, c.line, c.text)
				break
			}
			a := answers[i]
			if !fine(file, c, a) {
				t.Errorf("%s:%d: %q ends with %d:\n%s", file, c.line, c.text, a.code, strings.Join(a.said, "\n"))
			}
			if !c.shows {
				continue
			}
			said := strings.Split(swapped(strings.Join(a.said, "\n"), map[string]string{home: "/home/you"}), "\n")
			pairs := paired(c.output, said)
			meant(names, c.output, said, pairs)
			switch cut := slices.ContainsFunc(c.output, func(l string) bool { return strings.Contains(l, anything) }); {
			case pairs != nil:
			case *update && !cut:
				fresh := make([]string, len(said))
				for j, l := range said {
					fresh[j] = strings.TrimRight(c.indent+l, " ")
				}
				lines = slices.Replace(lines, c.from+shift, c.from+shift+len(c.output), fresh...)
				shift += len(said) - len(c.output)
			default:
				t.Errorf("%s:%d: %q says otherwise than the page (-) shows (+):\n%s", file, c.line, c.text, cmp.Diff(trimmed(c.output), said))
			}
		}
	}
	if fresh := strings.Join(lines, "\n"); *update && fresh != text {
		must(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(fresh), 0o644))
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
