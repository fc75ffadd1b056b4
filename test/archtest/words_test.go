package archtest

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// replaced are words that users no longer read, each with the one in its place. They are
// looked for in what the program prints and in what the pages say.
var replaced = []struct {
	old *regexp.Regexp
	now string
}{
	{regexp.MustCompile(`\b(W|w)hole view\b|\bview is not whole\b`), "Complete scan, Incomplete scan"},
	{regexp.MustCompile(`\bTHE COLLECTOR\b`), "GC RESULT"},
	{regexp.MustCompile(`\bodd-owner-kind\b`), "misspelled-owner-kind"},
	{regexp.MustCompile(`\b[Ff]oretells?\b|\b[Ff]oresees?\b`), "predict, preview"},
	{regexp.MustCompile(`\bSeen at [0-9]`), "Scanned at"},
	{regexp.MustCompile(`\breversion(ed)?\b`), "update-version"},
	{regexp.MustCompile("json:\"(asked|otherwise|goesAlong|namedBy|wouldChange|loses|stays|unsure|holder|resident|whose)[,\"]"), "the JSON keys of docs/output.md"},
	{regexp.MustCompile(`\bmatter of luck\b|\bas luck has it\b`), "nondeterministic"},
	{regexp.MustCompile(`\bmade again\b|\bputs? back\b`), "recreated, restores"},
}

// spoken are the files with words for users; unread are those among them that are kept as
// they were, each with why.
var (
	spoken = []string{"pkg", "docs", "README.md", "SECURITY.md", "CONTRIBUTING.md", "test/script/testdata"}
	unread = map[string]string{
		"docs/reliability.md":        "written by a campaign, which writes it anew",
		"docs/performance.md":        "written by a benchmark, which writes it anew",
		"docs/performance-acting.md": "written by a benchmark, which writes it anew",
		"docs/conformance.md":        "written from the names of tests",
	}
)

func TestUsersReadTheWordsOfTheField(t *testing.T) {
	for _, root := range spoken {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, entry fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash("../../")))
			if err != nil || entry.IsDir() || unread[name] != "" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			lines := strings.Split(string(text), "\n")
			switch filepath.Ext(name) {
			case ".go":
				lines = literals(text)
			case ".md", ".txtar":
			default:
				return nil
			}
			for i, line := range lines {
				for _, r := range replaced {
					if found := r.old.FindString(line); found != "" {
						t.Errorf("%s:%d: %q: say %s", name, i+1, found, r.now)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// literals returns the string literals of a Go file by line, from 0; of one of several
// lines, all at its first.
func literals(source []byte) []string {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	out := make([]string, strings.Count(string(source), "\n")+1)
	for {
		at, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return out
		case token.STRING:
			out[files.Position(at).Line-1] += text + " "
		default:
		}
	}
}
