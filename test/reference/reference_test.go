package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPagesAreUpToDate(t *testing.T) {
	t.Setenv("HOME", "/home/of/somebody") // the pages are the same for every user
	t.Setenv("KUBECACHEDIR", "/somewhere/else")
	want, err := pages("../../pkg")
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := filepath.Glob("../../docs/schemas/*")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, file := range append(schemas, "../../docs/commands.md", "../../docs/reasons.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(filepath.ToSlash(file), "../../docs/")] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs is not up to date: run make docs (-want +docs):\n%s", diff)
	}
}
