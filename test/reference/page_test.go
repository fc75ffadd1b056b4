package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkPage fails if a page of docs is not what is generated now. With -update it writes the page
// first. source says what the page is generated from.
func checkPage(t *testing.T, page, source, want string) {
	t.Helper()
	path := filepath.Join("../../docs", page)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/%s is not up to date: run make docs (-%s +page):\n%s", page, source, diff)
	}
}
