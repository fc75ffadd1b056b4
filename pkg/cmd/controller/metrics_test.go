package controller

import (
	"errors"
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

// serveMetrics serves metrics until the end of the test, and returns the address.
func serveMetrics(t *testing.T) string {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	probe.Close()
	stop, err := newMetrics().serve(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return address
}

// Whoever may connect could keep the kubelet from finding out that the service is alive.
func TestIdleConnectionsToTheMetricsKeepNobodyWaiting(t *testing.T) {
	address := serveMetrics(t)
	var all []net.Conn
	for range maxWaiting + 100 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all = append(all, c)
	}
	healthy := http.Client{Timeout: time.Second}
	answer, err := healthy.Get("http://" + address + "/healthz")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("a probe behind idle connections: %v, %v", answer, err)
	}
	answer.Body.Close()
	for i, c := range all[:100] { // the oldest ones
		if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d was not closed: %v", i, err)
		}
	}
}

func TestRequestToTheMetricsWithoutItsBodyKeepsNoConnection(t *testing.T) {
	c, err := net.Dial("tcp", serveMetrics(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: metrics\r\nContent-Length: 200000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server still waits for the body")
	}
}

func TestConnectionToTheMetricsGetsOneAnswer(t *testing.T) {
	address := serveMetrics(t)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: metrics\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	// The answer ends with the connection, which the client keeps open.
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK") {
		t.Fatalf("it was not closed: %q, %v", answer, err)
	}
}
