package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func ms(all ...int) sample {
	var out sample
	for _, n := range all {
		out = append(out, cost{Wall: time.Duration(n) * time.Millisecond, CPU: time.Duration(n) * time.Millisecond, Memory: int64(n) << 20})
	}
	return out
}

func TestMedian(t *testing.T) {
	for name, c := range map[string]struct {
		of   sample
		want time.Duration
	}{
		"of an odd number":   {ms(900, 100, 200), 200 * time.Millisecond},
		"of an even number":  {ms(400, 100, 900, 200), 300 * time.Millisecond},
		"of a single figure": {ms(7), 7 * time.Millisecond},
		"of nothing":         {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.of.median(); got.Wall != c.want || got.CPU != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	r := &report{
		Line: "go run ./test/bench -objects 1", Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Machine: machine{Cores: 2, CPU: "a processor", Memory: "24 GiB", System: "Linux", Go: "go1"}, Kubernetes: "v1.36.3",
		Runs: 3, Types: 57, Objects: 50_234, Seeded: 50 * time.Second, Moved: transferred{Bytes: 48_000_000},
		Entries: []entry{
			{Name: "the transfer floor", Runs: ms(200, 210, 190), Lists: 57},
			{Name: "kubectl gc audit", Runs: ms(600, 610, 590), Lists: 63},
		},
		Ways: []entry{{Name: auditsWay.String(), Runs: ms(200, 210, 190)}},
	}
	var out bytes.Buffer
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "performance.md")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"50,234 objects", "48.0 MB", "3.00", "0.590 s to 0.610 s", "600 MiB"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &out)
		}
	}
	for _, want := range []string{
		"| `kubectl gc audit` | 0.600 s | 0.590 s to 0.610 s | 0.600 s | 600 MiB | 3.00 | 3.00 | 63 |",
		"50,234 objects of 57 types", "takes 3.00 times the floor's time", "2 cores, a processor", "| date | 2026-01-02 |", r.Line,
	} {
		if !strings.Contains(string(written), want) {
			t.Errorf("the page lacks %q:\n%s", want, written)
		}
	}
}

func TestTally(t *testing.T) {
	metrics := `# TYPE apiserver_request_total counter
apiserver_request_total{code="200",resource="pods",subresource="status",verb="LIST",version="v1"} 18
apiserver_request_total{code="200",resource="pods",verb="WATCH",version="v1"} 5
apiserver_request_total{code="200",resource="",verb="GET",version=""} 5
apiserver_request_total{code="200",resource="secrets",verb="LIST",version="v1"} 1.2e+02
apiserver_request_total{code="404",resource="secrets",verb="GET",version="v1"} 4
apiserver_request_duration_seconds_count{resource="pods",verb="LIST"} 7
`
	for name, c := range map[string]struct {
		of   []string
		want requests
	}{
		"of everything":   {nil, requests{"LIST": 138, "GET": 4}},
		"of one resource": {[]string{"secrets"}, requests{"LIST": 120, "GET": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := tally([]byte(metrics), c.of); err != nil || !maps.Equal(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-objects", "5000", "-peer", "other -A"}, &bytes.Buffer{})
	if err != nil || o.objects != 5000 || o.runs != 5 || o.line() != "go run ./test/bench -objects 5000 -runs 5 -peer …" {
		t.Errorf("got %+v, %v, which says %q", o, err, o.line())
	}
	o, err = parse([]string{"act", "-runs", "2"}, &bytes.Buffer{})
	if err != nil || !o.act || o.objects != 10_000 || o.line() != "go run ./test/bench act -objects 10000 -runs 2" {
		t.Errorf("got %+v, %v, which says %q", o, err, o.line())
	}
	for _, args := range [][]string{{"act", "-peer", "other"}, {"-objects", "0"}, {"-runs=0"}, {"-bogus"}, {"extra"}} {
		if code := dispatch(t.Context(), args); code != exitUsage {
			t.Errorf("bench %s: exit code %d, want %d", strings.Join(args, " "), code, exitUsage)
		}
	}
}
