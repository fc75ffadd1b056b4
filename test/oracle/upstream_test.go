package oracle

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// maxPrinted limits how many failures of one class, command and aspect are reduced and printed.
// All are counted.
const maxPrinted = 2

// TestPredictionMatchesUpstreamCollector draws scenarios and compares what this program says
// about them with the ends that upstream's collector reaches. These variables change it:
//
//	SCENARIOS             how many are drawn
//	SEED                  of the first; the next ones count on
//	ORDERS                of events per scenario
//	KIND                  draws only this kind
//	COMMAND               reports only disagreements with this command
//	UPSTREAM_PAGE         the page that the counts are written into
//	KUBECTL_GC_ORACLE     the command that runs upstream's collector, instead of a built one
func TestPredictionMatchesUpstreamCollector(t *testing.T) {
	if os.Getenv(testcluster.BuildVariable) == "" {
		t.Skipf("upstream's collector is run only with %s=1", testcluster.BuildVariable)
	}
	kinds := kindsFromEnvironment(t)
	first, scenarios, orders := numberFromEnvironment(t, "SEED", 1), numberFromEnvironment(t, "SCENARIOS", 10*len(kinds)), numberFromEnvironment(t, "ORDERS", 20)
	processes := runtime.GOMAXPROCS(0)
	pool := NewPool(Command{Args: upstreamCommand(t), Stderr: os.Stderr, Timeout: time.Minute}, processes)
	defer func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}()
	run := &comparison{checker: Checker{Ask: pool.Ask, Orders: orders, Only: os.Getenv("COMMAND")}, counts: NewCounts(), printed: map[string]int{}}
	seeds := make(chan int)
	var workers sync.WaitGroup
	for range processes {
		workers.Go(func() {
			for i := range seeds {
				run.scenario(t, kinds[i%len(kinds)], uint64(first+i))
			}
		})
	}
	for i := range scenarios {
		seeds <- i
	}
	close(seeds)
	workers.Wait()
	t.Logf("SEED=%d to %d, ORDERS=%d\n%s", first, first+scenarios-1, orders, run.counts.Table())
	t.Logf("failures: %d", run.failures)
	if path := os.Getenv(pageVariable); path != "" {
		if err := writePage(path, pageFigures{Scenarios: scenarios, First: first, Last: first + scenarios - 1, Orders: orders, Counts: run.counts}); err != nil {
			t.Error(err)
		}
	}
}

// comparison is the state of one run of the test.
type comparison struct {
	checker Checker

	mu      sync.Mutex
	counts  *Counts
	printed map[string]int // failures by class, command and aspect
	// failures counts the disagreements that are reported.
	failures int
}

// scenario compares one scenario.
func (c *comparison) scenario(t *testing.T, k Kind, seed uint64) {
	result, err := c.checker.Check(t.Context(), Draw(k, seed), seed)
	if err != nil {
		t.Errorf("KIND=%q SEED=%d: %v", k.Name, seed, err)
		return
	}
	c.mu.Lock()
	c.counts.Add(k, result)
	var printed []Finding
	only := os.Getenv("COMMAND")
	for _, f := range result.Findings {
		if only != "" && f.Command != only {
			continue
		}
		key := string(f.Class) + f.subject()
		if (f.Class.Failure() || os.Getenv("NEEDLESS") != "") && c.printed[key] < maxPrinted {
			c.printed[key]++
			printed = append(printed, f)
		}
		if f.Class.Failure() {
			c.failures++
			t.Fail()
		}
	}
	c.mu.Unlock()
	for _, f := range printed {
		smaller, err := c.checker.Minimize(context.WithoutCancel(t.Context()), f)
		note := ""
		if err != nil {
			note = fmt.Sprintf("\n(not reduced further: %v)", err)
		}
		t.Errorf("KIND=%q SEED=%d: %s%s", k.Name, seed, smaller, note)
	}
}

func kindsFromEnvironment(t *testing.T) []Kind {
	t.Helper()
	name := os.Getenv("KIND")
	if name == "" {
		return Kinds
	}
	for _, k := range Kinds {
		if k.Name == name {
			return []Kind{k}
		}
	}
	t.Fatalf("KIND: there is no kind %q", name)
	return nil
}

func numberFromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	given := os.Getenv(name)
	if given == "" {
		return otherwise
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 0 {
		t.Fatalf("%s: %q is not a number", name, given)
	}
	return n
}

// upstreamCommand returns the command that runs upstream's collector. Unless one is given, it
// is built in the module of the control plane.
func upstreamCommand(t *testing.T) []string {
	t.Helper()
	if given := strings.Fields(os.Getenv("KUBECTL_GC_ORACLE")); len(given) > 0 {
		return given
	}
	module := filepath.Join("..", "controlplane")
	if _, err := os.Stat(filepath.Join(module, "oracle")); err != nil {
		t.Skip("the program that runs upstream's collector does not exist")
	}
	file := filepath.Join(t.TempDir(), "oracle")
	cmd := exec.Command("go", "run", "./oracle", "-o", file)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the program that runs upstream's collector: %v\n%s", err, out)
	}
	return []string{file}
}
