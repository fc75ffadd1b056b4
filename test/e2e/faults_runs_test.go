package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

const (
	// runsVariable names the environment variable with the number of runs under faults.
	runsVariable = "RUNS"
	// concurrencyVariable names the one with the number of concurrent runs.
	concurrencyVariable = "ABREAST"
	// pageVariable names the one with the documentation page to write.
	pageVariable = "RELIABILITY"
	// statisticsVariable names the one with the file of the statistics so far, which further runs
	// continue.
	statisticsVariable = "TALLY"
)

// defaultRuns is the default number of runs under faults, always with the same seeds.
const defaultRuns = 5

// faultRuns is a series of runs with consecutive seeds.
type faultRuns struct {
	path string // of the file with the statistics; empty: they are not saved
	run  func(t *testing.T, ground *environment, seed uint64) *verdict

	mu         sync.Mutex
	stats      *statistics
	begun      time.Time
	tookBefore time.Duration // duration of the earlier runs of a continued series
}

// newFaultRuns continues the saved series, or starts one with the requested seed or a new one. It
// returns the seeds that are left.
func newFaultRuns(t *testing.T, run func(*testing.T, *environment, uint64) *verdict, usual int, kinds []proxy.Kind) (c *faultRuns, seeds []uint64) {
	t.Helper()
	from, n := seedRange(t, usual)
	c = &faultRuns{path: os.Getenv(statisticsVariable), run: run, stats: newStatistics(from, kinds), begun: time.Now()}
	if c.path != "" {
		kept, err := os.ReadFile(c.path)
		if err == nil {
			err = json.Unmarshal(kept, c.stats)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("go on with %s: %v", c.path, err)
		}
		c.tookBefore = c.stats.Took
	}
	for i := range n {
		if seed := c.stats.From + uint64(i); !slices.Contains(c.stats.Done, seed) {
			seeds = append(seeds, seed)
		}
	}
	t.Logf("%d runs are done, %d to do: %s=%d %s=%d", len(c.stats.Done), len(seeds), seedVariable, c.stats.From, runsVariable, n)
	return c, seeds
}

func seedRange(t *testing.T, usual int) (from uint64, n int) {
	t.Helper()
	if os.Getenv(runsVariable) == "" && os.Getenv(seedVariable) == "" {
		return 1, usual
	}
	return seeds(t, 1)[0], positiveNumber(t, runsVariable)
}

// positiveNumber returns the value of an environment variable, or 1 if it is not set.
func positiveNumber(t *testing.T, variable string) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), "1"))
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a number of runs", variable, os.Getenv(variable))
	}
	return n
}

// concurrentEnvironments returns n environments for concurrent runs: a command reads the whole
// cluster, so that two runs in one would read each other's objects.
func concurrentEnvironments(t *testing.T, n int) (out []*environment) {
	t.Helper()
	scenes := []*scene{ordinary.newScene(t)}
	for len(scenes) < n {
		scenes = append(scenes, newSceneOf(t, ordinaryOptions))
	}
	for _, s := range scenes {
		s.defineTestKinds()
		out = append(out, s.environment)
	}
	return out
}

// runAll runs all seeds, one at a time in each environment. It continues after a failure.
func (c *faultRuns) runAll(t *testing.T, grounds []*environment, seeds []uint64) {
	next := make(chan uint64)
	var workers sync.WaitGroup
	for _, ground := range grounds {
		workers.Go(func() {
			for seed := range next {
				var v *verdict
				passed := t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) { v = c.run(t, ground, seed) })
				if err := c.record(seed, v, passed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, seed := range seeds {
		next <- seed
	}
	close(next)
	workers.Wait()
}

// record adds a run to the statistics and saves them. v is nil if the run could not be
// evaluated.
func (c *faultRuns) record(seed uint64, v *verdict, passed bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.add(seed, v, passed)
	c.stats.Took = c.tookBefore + time.Since(c.begun)
	if c.path == "" {
		return nil
	}
	content, err := json.Marshal(c.stats)
	if err != nil {
		return fmt.Errorf("keep the counts: %w", err)
	}
	fresh := c.path + ".new"
	if err := os.WriteFile(fresh, content, 0o644); err != nil {
		return fmt.Errorf("keep the counts: %w", err)
	}
	return os.Rename(fresh, c.path)
}
