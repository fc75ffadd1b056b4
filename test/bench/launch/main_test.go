package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if code := os.Getenv("LAUNCH_TEST_EXIT"); code != "" {
		os.Exit(int(code[0] - '0'))
	}
	os.Exit(m.Run())
}

func TestLaunchReportsCost(t *testing.T) {
	t.Setenv("LAUNCH_TEST_EXIT", "3")
	file := filepath.Join(t.TempDir(), "figures")
	code, err := launch(file, os.Args[0], nil)
	if err != nil || code != 3 {
		t.Fatalf("got exit code %d, %v, want 3", code, err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	figures := strings.Fields(string(written))
	if len(figures) != 3 || figures[0] == "0" {
		t.Errorf("got %q, want three figures, the first a time", written)
	}
	if runtime.GOOS == "linux" && (len(figures) != 3 || figures[2] == "0") {
		t.Errorf("got %q, want a peak of memory", written)
	}
}

func TestLaunchOfMissingProgram(t *testing.T) {
	code, err := launch(filepath.Join(t.TempDir(), "figures"), filepath.Join(t.TempDir(), "absent"), nil)
	if err == nil || code != exitLost {
		t.Errorf("got exit code %d, %v, want %d and an error", code, err, exitLost)
	}
}
