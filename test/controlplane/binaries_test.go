package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// fillFolder creates an executable file for every program.
func fillFolder(t *testing.T, dir string) {
	t.Helper()
	for _, p := range allPrograms() {
		if err := os.WriteFile(filepath.Join(dir, p.name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestForeignBinariesAreUsedUnchanged(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(dirVariable, dir)
	fillFolder(t, dir)
	got, err := build(t.Context(), newThread(), io.Discard, "", true)
	if want := (binaries{dir, dir}); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestFolderIsNotBuilt(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"empty": func(*testing.T, string) {},
		"of another key": func(t *testing.T, dir string) {
			fillFolder(t, dir)
			if err := os.WriteFile(filepath.Join(dir, keyFile), []byte("other"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"without kubectl": func(t *testing.T, dir string) {
			fillFolder(t, dir)
			if err := os.Remove(filepath.Join(dir, "kubectl")); err != nil {
				t.Fatal(err)
			}
		},
		"with a kubectl that can't be run": func(t *testing.T, dir string) {
			fillFolder(t, dir)
			if err := os.Chmod(filepath.Join(dir, "kubectl"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv(dirVariable, dir)
			spoil(t, dir)
			if _, err := build(t.Context(), newThread(), io.Discard, "", true); !errors.Is(err, errNotBuilt) {
				t.Errorf("got error %v, want %v", err, errNotBuilt)
			}
		})
	}
}
