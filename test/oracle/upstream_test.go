package oracle

import (
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	// maxPrinted limits how many failures of one class, command and aspect are reduced and printed.
	maxPrinted = 2
	// minPredictions is how many predictions a scenario has at least, on average.
	minPredictions = 15
	// maxNeedless is how many percent of the predictions may be uncertain without need. A program that
	// is always uncertain would never be wrong.
	maxNeedless = 4
)

// TestPredictionMatchesUpstreamCollector draws scenarios and compares what this program says
// about them with the ends that upstream's collector reaches. These variables change it:
//
//	SCENARIOS             how many are drawn
//	SEED                  of the first; the next ones count on
//	ORDERS                of events per scenario
//	KIND                  draws only this kind
//	COMMAND               compares only this command
//	KUBECTL_GC_ORACLE     the program that runs upstream's collector, instead of a built one
func TestPredictionMatchesUpstreamCollector(t *testing.T) {
	processes := runtime.GOMAXPROCS(0)
	kinds, only := Kinds, os.Getenv("COMMAND")
	if name := os.Getenv("KIND"); name != "" {
		kinds = slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return k.Name != name })
		if len(kinds) == 0 {
			t.Fatalf("KIND: there is no kind %q", name)
		}
	}
	first, scenarios, orders := NumberFromEnvironment(t, "SEED", 1), NumberFromEnvironment(t, "SCENARIOS", 30*len(Kinds)), NumberFromEnvironment(t, "ORDERS", 10)
	run := &comparison{
		checker:  Checker{Ask: Start(t, processes), Orders: orders, Only: only},
		findings: map[Class]int{}, printed: map[string]int{},
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range processes {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < scenarios; i = int(next.Add(1)) - 1 {
				if !run.scenario(t, kinds[i%len(kinds)], uint64(first+i)) {
					return
				}
			}
		})
	}
	workers.Wait()
	t.Logf("SEED=%d to %d, ORDERS=%d: %d predictions, disagreements: %v", first, first+scenarios-1, orders, run.predictions, run.findings)
	if len(kinds) < len(Kinds) || only != "" {
		return
	}
	if run.predictions < minPredictions*scenarios {
		t.Errorf("only %d predictions about %d scenarios", run.predictions, scenarios)
	}
	if n := run.findings[Needless]; 100*n > maxNeedless*run.predictions {
		t.Errorf("%d of %d predictions are uncertain without need", n, run.predictions)
	}
}

// comparison is the state of one run of the test.
type comparison struct {
	checker Checker

	mu          sync.Mutex
	predictions int
	findings    map[Class]int
	printed     map[string]int // failures by class, command and aspect
}

// scenario compares one scenario. It reports whether upstream's collector could be asked.
func (c *comparison) scenario(t *testing.T, k Kind, seed uint64) bool {
	result, err := c.checker.Check(t.Context(), Draw(k, seed), seed)
	if err != nil {
		t.Errorf("KIND=%q SEED=%d: %v", k.Name, seed, err)
		return false
	}
	for _, f := range c.add(result) {
		smaller, err := c.checker.Minimize(context.WithoutCancel(t.Context()), f)
		if err != nil {
			t.Errorf("reduce the scenario: %v", err)
		}
		t.Errorf("KIND=%q SEED=%d: %s", k.Name, seed, smaller)
	}
	return true
}

// add counts a result, and returns the failures to print.
func (c *comparison) add(r Result) (failures []Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.predictions += r.Predictions
	for _, f := range r.Findings {
		c.findings[f.Class]++
		key := string(f.Class) + f.subject()
		if f.Class != Needless && c.printed[key] < maxPrinted {
			c.printed[key]++
			failures = append(failures, f)
		}
	}
	return failures
}
