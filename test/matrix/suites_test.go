package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTestsOfSuitesExist(t *testing.T) {
	files, err := filepath.Glob("../e2e/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	run := regexp.MustCompile(allTests())
	for _, s := range suites {
		for _, name := range s.tests {
			if !strings.Contains(all.String(), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s: there is no test %s", s.Name, name)
			}
			if !run.MatchString(name) {
				t.Errorf("-run %s does not match %s", run, name)
			}
		}
	}
}
