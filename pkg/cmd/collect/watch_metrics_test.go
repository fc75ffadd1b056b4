package collect

import (
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var update = flag.Bool("update", false, "write testdata/metrics.prom")

// TestMetrics compares the page of an instance at rest with testdata/metrics.prom, by which
// test/prometheus evaluates the alerts. It leaves out the metrics of Go and of the process.
func TestMetrics(t *testing.T) {
	m := newMetrics()
	m.observeRound(&controller.Round{Took: 3 * time.Millisecond, Snapshot: &snapshot.Snapshot{}, Plan: &plan.Plan{}})
	m.last.Set(1.8e9)
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	var page strings.Builder
	for line := range strings.Lines(answer.Body.String()) {
		if strings.Contains(line, "kubectl_gc_") {
			page.WriteString(line)
		}
	}
	problems, err := promlint.New(strings.NewReader(page.String())).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	const golden = "testdata/metrics.prom"
	if *update {
		if err := os.WriteFile(golden, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("run it with -update if this is right (-want +got)\n%s", diff)
	}
}

func TestIdleConnectionsToTheMetricsAreClosed(t *testing.T) {
	m := newMetrics()
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	probe.Close()
	stop, err := m.serve(address)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	const idle = maxConnections + 100
	request := []byte("GET /healthz HTTP/1.1\r\nHost: metrics\r\n\r\n")
	for i := range idle {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
		// The answer ends with the connection, which the client keeps open.
		if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
			t.Fatalf("connection %d was not closed: %q, %v", i, answer, err)
		}
	}
}
