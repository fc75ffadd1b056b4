package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func ms(all ...int) sample {
	var out sample
	for _, n := range all {
		out = append(out, cost{Wall: time.Duration(n) * time.Millisecond, CPU: time.Duration(n) * time.Millisecond, Servers: time.Duration(n) * time.Millisecond, Memory: int64(n) << 20})
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
		"of no runs":         {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.of.Median(); got.Wall != c.want || got.CPU != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// compared returns a result in which audit took this many milliseconds in every state, three times
// as many as the floor.
func compared(objects, audit int) *sizeResult {
	near := entry{Name: namespaceFloor, Floor: true, Runs: ms(100)}
	s := &sizeResult{
		Wanted: objects, Objects: objects + 234, Runs: 3, Requests: 63, Near: listMethod{Streams: 8},
		Entries: []entry{near, {Name: treeRow, Runs: ms(140), Against: near.Median()}},
		Growths: []growth{{Name: auditRow, Before: []int64{500 << 20}, Peak: []int64{600 << 20}}},
	}
	for _, in := range states {
		s.States = append(s.States, stateResult{
			state: in, Runs: 3, Moved: transferred{Bytes: 48_000_000}, Audit: ms(audit, audit+10, audit-10),
			Ways: []attempt{{listMethod{Streams: 2}, ms(audit / 3)}, {auditListMethod, ms(audit)}},
		})
	}
	return s
}

func TestReport(t *testing.T) {
	floor := ms(2000)
	r := &report{
		Line: "go run ./test/bench -objects 1", Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Rest: 10 * time.Second,
		Machine: machine{Cores: 2, CPU: "a processor", Memory: "24 GiB", System: "Linux", Go: "go1"}, Kubernetes: "v1.36.3",
		Types: 57, Tries: 3, Stages: []*sizeResult{compared(50_000, 600), compared(500_000, 6600)},
		Crossing: &slowLinkResult{
			Link: slow.String(), Objects: 50_000, Runs: 3, Ways: []attempt{{listMethod{Streams: 8, Gzip: true}, floor}},
			Entries: []entry{{Name: packedFloor, Runs: floor, Against: floor.Median(), Floor: true}, {Name: auditRow, Runs: ms(2400), Against: floor.Median()}},
		},
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
	for _, want := range []string{"50,234 objects", "500,234 objects", "48.0 MB", "3.00", "0.590 s to 0.610 s", "600 MiB", "3.00, missed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, &out)
		}
	}
	for _, want := range []string{
		"| | goal, 50,000 objects | reached | goal, 500,000 objects | reached |",
		"| `audit`, wall time / the floor's, cluster changing | ≤ 1.25 | 3.00, missed | ≤ 1.2 | 3.00, missed |",
		"| `audit`, CPU of API server and etcd / the floor's, cluster quiet | ≤ 1.2 | 3.00, missed | ≤ 1.2 | 3.00, missed |",
		"| `audit`, peak memory | ≤ 55 MiB | 600 MiB, missed |",
		"Cluster restarted, medians of 3 runs. The API server is restarted",
		"| `tree` of one object, wall time / that of its namespace's floor | ≤ 1.5 | 1.40 | ≤ 1.5 | 1.40 |",
		"| `audit`, wall time per object / that of the fewest |  |  | ≤ 1.15 | 1.10 |",
		"| `audit` over a slow link, wall time / the floor's, compressed | ≤ 1.1 | 1.20, missed |  |  |",
		"| `kubectl gc audit` | 0.600 s | 0.590 s to 0.610 s | 0.600 s | 600 MiB | 0.600 s | 3.00 | 3.00 | 3.00 |", "63 requests of `audit`",
		"| the floor of one namespace | 0.100 s |", "| no pages, 8 streams, not compressed (`audit`'s) | 0.600 s |",
		"| `kubectl gc audit` | 500 MiB | 600 MiB | 100 MiB |", "50ms round trip and 20 Mbit/s",
		"2 cores, a processor", "| date | 2026-01-02 |", r.Line,
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
	o, err := parse([]string{"-objects", "5000,20000"}, &bytes.Buffer{})
	if err != nil || !slices.Equal(o.stages, counts{5000, 20_000}) || o.line() != "go run ./test/bench -objects 5000,20000 -runs 5" {
		t.Errorf("got %+v, %v, which says %q", o, err, o.line())
	}
	o, err = parse(nil, &bytes.Buffer{})
	if err != nil || !slices.Equal(o.stages, counts{50_000}) {
		t.Errorf("got %+v, %v, want 50000 objects", o, err)
	}
	o, err = parse([]string{"act", "-runs", "2"}, &bytes.Buffer{})
	if err != nil || !o.act || o.objects != 10_000 || o.line() != "go run ./test/bench act -objects 10000 -runs 2" {
		t.Errorf("got %+v, %v, which says %q", o, err, o.line())
	}
	for _, args := range [][]string{{"-peer", "other"}, {"-objects", "0"}, {"-objects", "20000,5000"}, {"-objects", "5000,5000"}, {"-objects", "100,5000"}, {"-objects", "5000,"}, {"act", "-objects", "5000,20000"}, {"-runs=0"}, {"-bogus"}, {"extra"}} {
		if code := dispatch(t.Context(), args); code != exitUsage {
			t.Errorf("bench %s: exit code %d, want %d", strings.Join(args, " "), code, exitUsage)
		}
	}
}
