// Package mutation breaks this program in one place, for tests that prove that other tests find it.
package mutation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Requested reports whether programs are to be broken, which takes minutes.
func Requested() bool { return os.Getenv("MUTATION") != "" }

// Overlay returns an overlay with which go builds the program with a changed file. The file is named by
// its path below pkg, and old occurs exactly once in it. The test runs in a folder below test. It is
// skipped unless that is requested, once it is known that the change applies.
func Overlay(t testing.TB, file, old, changed string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../pkg", file))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), old); n != 1 {
		t.Fatalf("%s has %q %d times", file, old, n)
	}
	if !Requested() {
		t.Skip("it takes minutes: MUTATION=1 runs it")
	}
	dir := t.TempDir()
	replacement, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	for path, text := range map[string]string{
		replacement: strings.Replace(string(source), old, changed, 1),
		overlay:     fmt.Sprintf(`{"Replace": {%q: %q}}`, path, replacement),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
