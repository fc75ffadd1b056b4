package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestActReport(t *testing.T) {
	r := &actReport{
		Line: "go run ./test/bench act", Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Machine: machine{Cores: 2}, Kubernetes: "v1.36.3",
		Rounds: 3, Objects: 10_000, Bare: 2,
		Rows: []actRow{
			{Name: "bare DELETEs, 20 at a time", Runs: ms(5000, 5100, 4900), Requests: []requests{{"DELETE": 10_000, "LIST": 1}}},
			{Name: "bare DELETEs, 64 at a time", Runs: ms(4000, 4100, 3900)},
			{Name: "kubectl gc collect", Runs: ms(5200), Requests: []requests{{"DELETE": 10_000, "GET": 100, "LIST": 200}}},
			{Name: "of that: backup and deletes", Runs: sample{{Wall: 5 * time.Second}}},
			{Name: "the real collector", Runs: ms(8000), Requests: []requests{{"DELETE": 10_000, "GET": 9000}, {"DELETE": 10_000, "GET": 10_000}, {"DELETE": 10_000, "GET": 10_100, "LIST": 300}}},
		},
	}
	var out bytes.Buffer
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "performance-acting.md")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| bare DELETEs, 20 at a time | 5.000 s | 4.900 s to 5.100 s | 1.25 |", "| 1.00 (DELETE 1.00) |",
		"| `kubectl gc collect`, in total | 5.200 s | 5.200 s to 5.200 s | 1.30 |", "| 1.03 (DELETE 1.00, GET 0.01, LIST 0.02) |",
		"| of that: backup and deletes | 5.000 s | 5.000 s to 5.000 s | 1.25 |  |  |  |  |",
		"| 2.00 (DELETE 1.00, GET 1.00) |", "10,000 ConfigMaps", "every 20ms", r.Line,
	} {
		if !strings.Contains(string(written), want) {
			t.Errorf("the page lacks %q:\n%s", want, written)
		}
	}
	if !strings.Contains(out.String(), "1.03 (DELETE 1.00, GET 0.01, LIST 0.02)") {
		t.Errorf("the table lacks the requests:\n%s", &out)
	}
}

func TestBeginning(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)
	log := "I1231 23:59:50.000000       7 garbagecollector.go:1] \"Proceeding to collect garbage\"\n" +
		"I1231 23:59:59.250000       8 garbagecollector.go:1] \"Proceeding to collect garbage\"\nI0101 00:00:00.500000       8 x.go:1] more\n"
	got, err := beginning([]byte(log), now)
	if want := time.Date(2025, 12, 31, 23, 59, 59, 250_000_000, time.UTC); err != nil || !got.Equal(want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"", "I0101 00:00:00.500000       8 x.go:1] more\n", "Proceeding to collect garbage", "once upon a time, Proceeding to collect garbage"} {
		if got, err := beginning([]byte(bad), now); err == nil {
			t.Errorf("of %q: got %v, want an error", bad, got)
		}
	}
}
