package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every row of the tables of docs/differences.md that compare two columns names tests that exist.
func TestEveryDifferenceNamesItsTest(t *testing.T) {
	page, err := os.ReadFile("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	defined, name := testFunctions(t), regexp.MustCompile("`(Test\\w+)`")
	rows, column := 0, false
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case !strings.HasPrefix(line, "| "):
			column = false
		case cells[0] == "case":
			column = cells[len(cells)-1] == "tested by"
			if !column {
				t.Errorf("the table has no tests: %s", line)
			}
		case column && !strings.HasPrefix(line, "| ---"):
			rows++
			tests := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
			if len(tests) == 0 {
				t.Errorf("no test: %s", line)
			}
			for _, test := range tests {
				if !defined[test[1]] {
					t.Errorf("%s does not exist", test[1])
				}
			}
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows", rows)
	}
}

// testFunctions returns the names of all test functions of the repository.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	out, declared := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(t `)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, name := range declared.FindAllSubmatch(source, -1) {
			out[string(name[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
