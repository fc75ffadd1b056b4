package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTestsNamedOnPagesExist accepts the beginning of a name, as go test -run does.
func TestTestsNamedOnPagesExist(t *testing.T) {
	var defined []string
	named := map[string]string{} // the page of each name
	declared, name := regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile(`\bTest[A-Z]\w+`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		isTest := strings.HasSuffix(path, "_test.go")
		if err != nil || d.IsDir() || !isTest && filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if !isTest {
			for _, n := range name.FindAllString(string(text), -1) {
				named[n] = path
			}
		}
		for _, n := range declared.FindAllStringSubmatch(string(text), -1) {
			defined = append(defined, n[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(named, "TestName") // a placeholder
	for n, page := range named {
		if !slices.ContainsFunc(defined, func(d string) bool { return strings.HasPrefix(d, n) }) {
			t.Errorf("%s: there is no %s", page, n)
		}
	}
}
