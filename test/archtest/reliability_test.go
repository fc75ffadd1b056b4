package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inCode matches a test in docs/reliability.md: its folder and its name.
var inCode = regexp.MustCompile("`((?:pkg|test)/[a-z0-9/]+) (Test[A-Za-z0-9]+)`")

func TestTestsCitedInReliabilityExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	named := inCode.FindAllStringSubmatch(string(page), -1)
	if len(named) == 0 {
		t.Fatal("it names none")
	}
	for _, n := range named {
		files, err := filepath.Glob(filepath.Join("../..", n[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		there := false
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			there = there || strings.Contains(string(text), "\nfunc "+n[2]+"(")
		}
		if !there {
			t.Errorf("%s has no %s", n[1], n[2])
		}
	}
}
