package controller

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/controller"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// metrics are what the collector reports about itself. Their names are a public contract.
type metrics struct {
	registry *prometheus.Registry
	monitor  atomic.Pointer[monitor.Monitor] // nil while another instance acts

	steps    *prometheus.CounterVec
	rounds   *prometheus.CounterVec
	duration prometheus.Histogram
	last     prometheus.Gauge
	held     prometheus.Gauge
	leftOut  prometheus.Gauge
	blocked  prometheus.Gauge
	gaps     prometheus.Gauge
}

// How a round ended, as a label of rounds_total.
const (
	roundIdle   = "idle" // there was nothing to do
	roundDone   = "done"
	roundFailed = "failed"
)

func newMetrics() *metrics {
	const prefix = "kubectl_gc_controller_"
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + name, Help: help})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		steps:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "steps_total", Help: "Steps by action and how they ended."}, []string{"action", "status"}),
		rounds:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "rounds_total", Help: "Passes over the cluster by result: idle, done or failed."}, []string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "round_duration_seconds", Help: "How long a pass took.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 10)}),
		last:     gauge("last_round_timestamp_seconds", "When the latest pass that did not fail ended."),
		held:     gauge("held_objects", "Objects that this instance leaves alone until it sees its own write or retries a step."),
		leftOut:  gauge("left_out", "Namespaces and owner kinds whose objects this instance leaves alone, because they exceed --max-deletes or a share of --backup-max-size."),
		blocked:  gauge("blocked_objects", "Deletions that the collector cannot complete."),
		gaps:     gauge("gaps", "Resource types, groups and namespaces that this instance could not read."),
	}
	// A series that exists from the start shows its first increase.
	for _, result := range []string{roundIdle, roundDone, roundFailed} {
		m.rounds.WithLabelValues(result)
	}
	for _, action := range []plan.Action{plan.ActionDelete, plan.ActionUnlink, plan.ActionUnblock, plan.ActionRemoveFinalizer} {
		for _, status := range []event.Status{event.Done, event.Skipped, event.Failed} {
			m.steps.WithLabelValues(string(action), string(status))
		}
	}
	m.registry.MustRegister(m.steps, m.rounds, m.duration, m.last, m.held, m.leftOut, m.blocked, m.gaps, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	live := func(value func(monitor.Stats) float64) func() float64 {
		return func() float64 {
			if now := m.monitor.Load(); now != nil {
				return value(now.Stats())
			}
			return 0
		}
	}
	liveGauge := func(name, help string, value func(monitor.Stats) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help}, live(value)))
	}
	liveCounter := func(name, help string, value func(monitor.Stats) float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: prefix + name, Help: help}, live(value)))
	}
	liveGauge("leader", "1 if this instance acts, 0 if it waits for the Lease.", func(monitor.Stats) float64 { return 1 })
	liveGauge("watched_types", "Lists that this instance watches.", func(s monitor.Stats) float64 { return float64(s.Monitors) })
	liveGauge("watched_objects", "Objects of these lists.", func(s monitor.Stats) float64 { return float64(s.Objects) })
	liveCounter("relists_total", "Lists after the first of each type.", func(s monitor.Stats) float64 { return float64(s.Relists) })
	liveCounter("watch_errors_total", "Watches that failed or ended with an error.", func(s monitor.Stats) float64 { return float64(s.WatchErrors) })
	return m
}

// observe makes m report about a Monitor.
func (m *metrics) observe(now *monitor.Monitor) { m.monitor.Store(now) }

func (m *metrics) observeStep(s *plan.Step, e event.Event) {
	m.steps.WithLabelValues(string(s.Action), string(e.Status)).Inc()
}

func (m *metrics) observeRound(r *controller.Round) {
	m.duration.Observe(r.Took.Seconds())
	m.held.Set(float64(r.Held))
	m.leftOut.Set(float64(len(r.LeftOut)))
	switch {
	case r.Err != nil:
		m.rounds.WithLabelValues(roundFailed).Inc()
		return
	case r.Report == nil:
		m.rounds.WithLabelValues(roundIdle).Inc()
	default:
		m.rounds.WithLabelValues(roundDone).Inc()
	}
	m.last.SetToCurrentTime()
	m.blocked.Set(float64(len(r.Plan.Blocked)))
	m.gaps.Set(float64(len(r.Snapshot.Gaps)))
}

const (
	// maxWaiting limits the connections to the metrics port that have not sent a request yet, and so their
	// memory. A further connection closes the oldest of them, so a probe, which sends its request at
	// once, never queues behind idle connections.
	maxWaiting = 2000
	// maxScrapes limits the requests for the metrics that are answered at once.
	maxScrapes = 20
)

// waiting are the connections without a request, the oldest first.
type waiting struct {
	mu    sync.Mutex
	conns []net.Conn
}

// observe is the ConnState of a server.
func (w *waiting) observe(c net.Conn, state http.ConnState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if state != http.StateNew {
		w.conns = slices.DeleteFunc(w.conns, func(one net.Conn) bool { return one == c })
		return
	}
	if len(w.conns) == maxWaiting {
		w.conns[0].Close()
		w.conns = slices.Delete(w.conns, 0, 1)
	}
	w.conns = append(w.conns, c)
}

// serve serves the metrics and the state of health until stop is called. The instance is healthy
// as long as it runs, and ready as soon as it waits for the Lease or acts.
func (m *metrics) serve(address string) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	ok := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}))
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /readyz", ok)
	server := &http.Server{
		Handler: mux, ReadTimeout: 2 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
		ConnState: new(waiting).observe,
	}
	server.SetKeepAlivesEnabled(false) // whoever may connect could keep every connection open
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // without it, probes fail, and the kubelet restarts the Pod
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
