package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFindModule(t *testing.T) {
	for minor, want := range map[string]string{"": "v1.37.", "1.37": "v1.37.", "1.36": "v1.36.", "1.35": "v1.35.", "1.33": "v1.33.", "1.30": "v1.30."} {
		if m, err := findModule(minor); err != nil || !strings.HasPrefix(m.version, want) {
			t.Errorf("%q: got %q, %v, want %s", minor, m.version, err, want)
		}
	}
	for _, minor := range []string{"1.3", "1.33.13", "v1.33", "33"} {
		if m, err := findModule(minor); err == nil {
			t.Errorf("%q: got %s", minor, m.version)
		}
	}
}

// The staging modules v0.X.Y belong to v1.X.Y. Only this test checks that they do.
func TestModuleHasOneKubernetesVersion(t *testing.T) {
	files, err := filepath.Glob("versions/*.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "go.mod") {
		m, err := readModule(file)
		if err != nil {
			t.Fatal(err)
		}
		staging := "v0." + strings.TrimPrefix(m.version, "v1.")
		replaced := 0
		for line := range strings.Lines(m.mod) {
			from, to, ok := strings.Cut(strings.TrimSpace(line), " => ")
			if !ok {
				continue
			}
			replaced++
			if want := from + " " + staging; to != want {
				t.Errorf("%s: %s is replaced by %s, want %s", file, from, to, want)
			}
		}
		if replaced == 0 {
			t.Errorf("%s: no staging module is replaced", file)
		}
	}
}

// make sets it, and an editor does not. The binaries are the same.
func TestKeyDoesNotDependOnARepeatedFlag(t *testing.T) {
	m, err := findModule("")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, goflags := range []string{"", "-trimpath"} {
		t.Setenv("GOFLAGS", goflags)
		key, err := m.key(t.Context(), []string{"-trimpath", "-buildvcs=false"})
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if len(keys) > 1 {
		t.Errorf("got keys %v", keys)
	}
}
