package prometheus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// collectorPage returns the metrics of an instance of controller at rest, as a test in its
// package keeps them.
func collectorPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "pkg", "cmd", "controller", "testdata", "metrics.prom"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCollectorAlertsFire scrapes two instances every minute for two hours, and evaluates the
// expressions of the alerts at the end. It ignores how long they have to be true.
func TestCollectorAlertsFire(t *testing.T) {
	const (
		minutes = 120
		prefix  = "kubectl_gc_controller_"
		never   = "0x120"
		grows   = "0+1x120"
	)
	for name, c := range map[string]struct {
		leader map[string]string // values that differ from those of an instance at rest; nil: neither instance leads
		silent bool              // nothing is scraped
		want   []string
	}{
		"one acts, and had nothing to do for long": {leader: map[string]string{"last_round_timestamp_seconds": never}},
		"nothing acts":        {want: []string{"CollectorNotRunning"}},
		"nothing is scraped":  {silent: true, want: []string{"CollectorNotRunning"}},
		"every round fails":   {leader: map[string]string{`rounds_total{result="failed"}`: grows, "last_round_timestamp_seconds": "60x120"}, want: []string{"CollectorFails"}},
		"no round ever ended": {leader: map[string]string{`rounds_total{result="failed"}`: grows, "last_round_timestamp_seconds": never}, want: []string{"CollectorFails"}},
		"some rounds fail":    {leader: map[string]string{`rounds_total{result="failed"}`: grows, "last_round_timestamp_seconds": "0+60x120"}},
		"a step fails again and again": {
			leader: map[string]string{`steps_total{action="delete",status="failed"}`: grows}, want: []string{"CollectorStepsFail delete"},
		},
		"steps are skipped":  {leader: map[string]string{`steps_total{action="delete",status="skipped"}`: grows}},
		"a step failed once": {leader: map[string]string{`steps_total{action="unlink",status="failed"}`: "0x60 1x59"}},
		"deletions are blocked": {
			leader: map[string]string{"blocked_objects": "2x120"}, want: []string{"CollectorDeletionsBlocked"},
		},
		"a namespace is left out": {leader: map[string]string{"left_out": "1x120"}, want: []string{"CollectorLeavesOut"}},
		"a type cannot be read":   {leader: map[string]string{"gaps": "1x120"}, want: []string{"CollectorScanIncomplete"}},
	} {
		t.Run(name, func(t *testing.T) {
			script := strings.Builder{}
			script.WriteString("load 1m\n\tstart 0\n\nload 1m\n")
			for _, instance := range []string{"a", "b"} {
				values := map[string]string{"last_round_timestamp_seconds": never}
				if instance == "a" && c.leader != nil {
					values = c.leader
					values["leader"] = "1x120"
				}
				known := 0
				for line := range strings.Lines(collectorPage(t)) {
					series, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, prefix)), " ")
					if !strings.HasPrefix(line, prefix) || c.silent {
						continue
					}
					value += "x120"
					if v, ok := values[series]; ok {
						value = v
						known++
					}
					metric, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
					script.WriteString("  " + prefix + metric + "{instance=\"" + instance + "\"," + labels + "} " + value + "\n")
				}
				if known != len(values) && !c.silent {
					t.Fatalf("the page has %d of the series %v", known, values)
				}
			}
			storage := promqltest.LoadedStorage(t, script.String())
			defer storage.Close()
			engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
			var got []string
			for _, alert := range alerts(t, collectGroup) {
				for _, labels := range evaluate(t, engine, storage, alert.Expr, minutes*time.Minute) {
					got = append(got, strings.TrimSpace(alert.Alert+" "+labels.Get("action")))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
