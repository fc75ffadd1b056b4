package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersionsPageIsUpToDate(t *testing.T) {
	path, want := filepath.Join("../../docs", versionsPage), asVersions()
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
		t.Errorf("docs/%s is not up to date: run make docs (-table +page):\n%s", versionsPage, diff)
	}
}
