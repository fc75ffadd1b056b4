package main

import (
	"strings"
	"testing"
)

func TestFindModule(t *testing.T) {
	newest := newestModule()
	for minor, want := range map[string]string{"": newest.version, newest.minor(): newest.version, "1.33": "v1.33.", "1.30": "v1.30."} {
		m, err := findModule(minor)
		if err != nil || !strings.HasPrefix(m.version, want) {
			t.Errorf("%q: got %q, %v, want %s", minor, m.version, err, want)
		}
	}
	for _, minor := range []string{"1.3", "1.33.13", "v1.33", "33"} {
		if m, err := findModule(minor); err == nil {
			t.Errorf("%q: got %s", minor, m.version)
		}
	}
}

func TestModuleFilesAreNamedByMinorVersion(t *testing.T) {
	for _, file := range moduleFiles()[1:] {
		if m := readModule(file); file != "versions/"+m.minor()+".mod" {
			t.Errorf("%s requires %s", file, m.version)
		}
	}
}
