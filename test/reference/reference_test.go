package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/commands anew, as make docs does")

const folder = "../../docs/commands"

const home, cache = "/home/of/somebody", "/somewhere/else"

// pagesWithoutUser returns the pages, which must be the same on every machine.
func pagesWithoutUser(t *testing.T) []page {
	t.Helper()
	t.Setenv("HOME", home)
	t.Setenv("KUBECACHEDIR", cache)
	root, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	return read(root)
}

func TestReferenceIsUpToDate(t *testing.T) {
	want := asMarkdown(pagesWithoutUser(t))
	if *update {
		if err := write(folder, want); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name()] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/commands is not up to date: run make docs (-commands +docs):\n%s", diff)
	}
}

func TestLinksLeadToPages(t *testing.T) {
	pages := pagesWithoutUser(t)
	for name, links := range more {
		if !slices.ContainsFunc(pages, func(p page) bool { return p.name == name }) {
			t.Errorf("%s is not a command", name)
		}
		for _, l := range append(links, append(always, link{"", exitCodes})...) {
			if _, err := os.Stat(filepath.Join(folder, l.to)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestEveryFlagIsOnAPage(t *testing.T) {
	pages := pagesWithoutUser(t)
	root, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, p := range pages {
		for _, g := range p.flags {
			for _, o := range g.flags {
				typed := strings.FieldsFunc(o.typed, func(r rune) bool { return strings.ContainsRune(" ,[=", r) })
				for _, word := range typed {
					shown[p.name+" "+strings.TrimLeft(word, "-")] = true
				}
			}
		}
	}
	for _, cmd := range root.Commands() {
		if !cmd.IsAvailableCommand() || cmd.Name() == "help" {
			continue
		}
		check := func(name string) func(*pflag.Flag) {
			return func(f *pflag.Flag) {
				if !f.Hidden && f.Name != "help" && !shown[name+" "+f.Name] {
					t.Errorf("%s --%s is not shown", name, f.Name)
				}
			}
		}
		cmd.LocalFlags().VisitAll(check(cmd.Name()))
		cmd.InheritedFlags().VisitAll(check(options))
	}
	for _, g := range shared {
		for _, name := range g.names {
			if !slices.ContainsFunc(pages, func(p page) bool { return shown[p.name+" "+name] }) {
				t.Errorf("%s: no command has --%s", g.title, name)
			}
		}
	}
}

func TestPagesDoNotDependOnUser(t *testing.T) {
	pages := pagesWithoutUser(t)
	for _, files := range []map[string]string{asMarkdown(pages), asMan(pages)} {
		for name, text := range files {
			if strings.Contains(text, home) || strings.Contains(text, cache) {
				t.Errorf("%s holds a folder of whoever runs this", name)
			}
		}
	}
}

func TestManPagesAreWellFormed(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: there is no groff")
	}
	for name, text := range asMan(pagesWithoutUser(t)) {
		cmd := exec.Command(groff, "-man", "-ww", "-Tascii")
		cmd.Stdin = strings.NewReader(text)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || said.Len() > 0 {
			t.Errorf("%s: %v\n%s", name, err, &said)
		}
		if !strings.Contains(string(out), "SEE ALSO") && !strings.Contains(string(out), "S\bS") {
			t.Errorf("%s is empty: %s", name, out)
		}
	}
}

func TestEscape(t *testing.T) {
	for name, test := range map[string]struct{ text, markdown, roff string }{
		"plain":                     {"an owner", "an owner", "an owner"},
		"a flag":                    {"say --dry-run=client or -A", "say `--dry-run=client` or `-A`", `say \-\-dry\-run=client or \-A`},
		"a command":                 {`"kubectl gc audit" names it`, "`kubectl gc audit` names it", `"kubectl gc audit" names it`},
		"a command with a flag":     {`see "kubectl completion --help"`, "see `kubectl completion --help`", `see "kubectl completion \-\-help"`},
		"a table's border":          {"json|yaml", `json\|yaml`, "json|yaml"},
		"markup":                    {"<b>*a*`b`", "\\<b\\>\\*a\\*\\`b\\`", `<b>*a*\(gab\(ga`},
		"a macro":                   {".so /etc/passwd", ".so /etc/passwd", `\&.so /etc/passwd`},
		"another macro":             {"'so /etc/passwd", "'so /etc/passwd", `\(aqso /etc/passwd`},
		"an escape":                 {`\n(.z`, `\\n(.z`, `\en(.z`},
		"beyond ASCII":              {"…", "…", `\[u2026]`},
		"a hyphen between words":    {"cluster-scoped", "cluster-scoped", `cluster\-scoped`},
		"a dash that is not a flag": {"; - is standard input", "; - is standard input", `; \- is standard input`},
		"a folder below the home":   {"~/.kube", `\~/.kube`, `\(ti/.kube`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cell(test.text); got != test.markdown {
				t.Errorf("in Markdown: %s, want %s", got, test.markdown)
			}
			if got := guard(escape(test.text)); got != test.roff {
				t.Errorf("in roff: %s, want %s", got, test.roff)
			}
		})
	}
}

func TestParseExitCodes(t *testing.T) {
	exits, rest := parseExitCodes(" 0 done, or nothing to do, 1 a step\nfailed, 130 interrupted. More is in docs.")
	want := []exit{{"0", "done, or nothing to do"}, {"1", "a step failed"}, {"130", "interrupted"}}
	if diff := cmp.Diff(want, exits, cmp.AllowUnexported(exit{})); diff != "" || rest != "More is in docs." {
		t.Errorf("rest %q (-want +got):\n%s", rest, diff)
	}
	exits, rest = parseExitCodes(" 0 done, 2 no answer.")
	if len(exits) != 2 || exits[1].meaning != "no answer" || rest != "" {
		t.Errorf("%v, rest %q", exits, rest)
	}
}
