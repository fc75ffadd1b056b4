package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/test/schema"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// visit runs the commands of a chapter.
type visit struct {
	*world
	chapter
	page      page
	dir, home string
	env       []string
	names     map[string]string // values on the page, with those of this run
	lines     []string          // the chapter with the actual output
	added     int               // difference to the number of lines of the page so far
}

// visit runs the commands of a chapter, block by block.
func (w *world) visit(t *testing.T, of chapter) {
	var all [][]command
	for _, b := range blocks(of.text) {
		b.line += of.above
		commands, err := b.commands()
		must(t, err)
		commands = slices.DeleteFunc(commands, func(c command) bool { return isSkipped(t, of.name, c) })
		if isAboutCommand(of.name) {
			all = slices.AppendSeq(all, slices.Chunk(commands, 1))
		} else if len(commands) > 0 {
			all = append(all, commands)
		}
	}
	if len(all) == 0 {
		return
	}
	v := &visit{world: w, chapter: of, page: pages[of.name], lines: strings.Split(of.text, "\n"), added: -of.above}
	v.start(t)
	for i, commands := range all {
		if i > 0 && v.page.reloads(of.name) {
			v.prepare(t)
		}
		// The commands of a console block are run one by one, since a command may contain values
		// from the output of an earlier one.
		if commands[0].shows {
			for _, c := range commands {
				v.run(t, []command{c})
			}
		} else {
			v.run(t, commands)
		}
	}
	if fresh := strings.Join(v.lines, "\n"); *update && fresh != of.text {
		name := filepath.Join(root, filepath.FromSlash(of.file))
		page, err := os.ReadFile(name) // an earlier chapter may have changed it
		must(t, err)
		must(t, os.WriteFile(name, []byte(strings.Replace(string(page), of.text, fresh, 1)), 0o644))
	}
}

func (v *visit) start(t *testing.T) {
	t.Helper()
	if v.page.collector == testcluster.On {
		must(t, v.loader.Clear(t.Context(), v.empty))
		must(t, v.plane.SetCollector(t.Context(), testcluster.On))
		v.loaded = nil
	}
	v.dir, v.home, v.env = v.newUser(t)
	v.names = map[string]string{"/home/you": v.home}
	maps.Copy(v.names, v.page.words)
	v.prepare(t)
}

// prepare loads the objects for the chapter and runs its first command.
func (v *visit) prepare(t *testing.T) {
	t.Helper()
	v.load(t, fixturesFor(v.name))
	for uid, object := range v.page.uids {
		if v.names[uid] = v.uids[object]; v.names[uid] == "" {
			t.Fatalf("%s is the UID of %q, which is in no manifest", uid, object)
		}
	}
	if v.page.before == "" {
		return
	}
	if got, err := shell(t.Context(), v.dir, v.env, []string{v.page.before}); err != nil || len(got) == 0 || got[0].code != 0 {
		t.Fatalf("before: %v %v", got, err)
	}
}

// pageColumns is the width of the terminals that pages show.
const pageColumns = 90

// asksDemo matches the commands whose output is the same in every run, so that it can be broken into
// lines, and goes to the terminal.
var asksDemo = regexp.MustCompile(`^kubectl gc [^|>]*(--demo|--from docs/demo/cluster\.json)[^|>]*$`)

// run runs commands in one shell.
func (v *visit) run(t *testing.T, commands []command) {
	t.Helper()
	typed := make([]string, len(commands))
	for i, c := range commands {
		typed[i] = replaceNames(c.text, v.names)
	}
	env := v.env
	if commands[0].shows && asksDemo.MatchString(commands[0].text) {
		env = append(slices.Clip(env), "PAGE_COLUMNS="+strconv.Itoa(pageColumns))
	}
	answers, err := shell(t.Context(), v.dir, env, typed)
	if err != nil {
		t.Fatalf("%s:%d: %v", v.file, commands[0].line, err)
	}
	for i, c := range commands {
		if i >= len(answers) {
			t.Errorf("%s:%d: a command before it ends the shell: %q", v.file, c.line, c.text)
			return
		}
		if !exitsAsExpected(v.name, c, answers[i]) {
			t.Errorf("%s:%d: %q ends with %d:\n%s", v.file, c.line, c.text, answers[i].code, strings.Join(answers[i].output, "\n"))
		}
		if err := schema.Check(filepath.Join(root, "docs/schemas"), []byte(strings.Join(answers[i].output, "\n"))); err != nil {
			t.Errorf("%s:%d: %q: %v", v.file, c.line, c.text, err)
		}
		if c.shows {
			v.compare(t, c, answers[i])
		}
	}
}

// compare compares the output on the page with the actual output.
func (v *visit) compare(t *testing.T, c command, a answer) {
	t.Helper()
	output := strings.Split(strings.ReplaceAll(strings.Join(a.output, "\n"), v.home, "/home/you"), "\n")
	pairs := match(c.output, output)
	recordNames(v.names, c.output, output, pairs)
	fresh, known := refreshed(c.output, output)
	switch {
	case pairs != nil:
	case *update && known:
		for i, l := range fresh {
			fresh[i] = strings.TrimRight(c.indent+l, " ")
		}
		v.lines = slices.Replace(v.lines, c.from+v.added, c.from+v.added+len(c.output), fresh...)
		v.added += len(fresh) - len(c.output)
	default:
		t.Errorf("%s:%d: the output of %q (+) differs from the page (-):\n%s", v.file, c.line, c.text, cmp.Diff(trimmed(c.output), output))
	}
}

// counts and ratios match the numbers in a summary, which a page omits if they differ from run to
// run.
var (
	counts = regexp.MustCompile(`[0-9,]+ (objects with|references)`)
	ratios = regexp.MustCompile(`[0-9,]+ of [0-9,]+ (resource types)`)
)

// refreshed returns the output that a page should show: the actual output, cut to as many lines
// if the page ends it with a line of …, and without the numbers of a summary if the page omits
// some. ok is false if the page omits other lines, because only a person knows which.
func refreshed(shown, output []string) (fresh []string, ok bool) {
	shown = trimmed(shown)
	last := len(shown) - 1
	inline := false
	for i, l := range shown {
		if strings.TrimSpace(l) == anything && i < last {
			return nil, false
		}
		inline = inline || strings.Contains(l, anything) && strings.TrimSpace(l) != anything
	}
	fresh = slices.Clone(output)
	if last >= 0 && strings.TrimSpace(shown[last]) == anything {
		fresh = append(fresh[:min(last, len(fresh))], anything)
	}
	if inline {
		for i, l := range fresh {
			l = counts.ReplaceAllString(l, anything+" $1")
			fresh[i] = ratios.ReplaceAllString(l, anything+" of "+anything+" $1")
		}
	}
	return fresh, true
}
