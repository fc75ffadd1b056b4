package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// growth is the memory growth of the API server during runs.
type growth struct {
	Name         string
	Before, Peak []int64 // resident bytes, by run
	Made         []int64 // bytes that the server has allocated, by run, including freed ones
	Collected    []int64 // number of garbage collections, by run
}

// Median returns the median growth; 0 if it is unknown.
func (g growth) Median() int64 {
	took := make([]int64, len(g.Before))
	for i := range took {
		took[i] = g.Peak[i] - g.Before[i]
	}
	return median(took)
}

// Start and Top return the medians of the memory before a run and at its peak.
func (g growth) Start() int64 { return median(g.Before) }
func (g growth) Top() int64   { return median(g.Peak) }

// Asked and Collections return medians.
func (g growth) Asked() int64       { return median(g.Made) }
func (g growth) Collections() int64 { return median(g.Collected) }

const (
	glimpse     = 10 * time.Millisecond
	growthRuns  = 3
	serverName  = "kube-apiserver"
	longestCalm = 30 * time.Second
)

// growths measures the server's memory while audit runs, and lists with and without pages. It
// returns none if the memory cannot be read. It runs first, because the server keeps memory and
// would not grow any more.
func (w *harness) growths(ctx context.Context) ([]growth, error) {
	out := []growth{{Name: auditRow}}
	programs := []program{w.command(true, "audit")}
	for _, method := range []listMethod{auditListMethod, {Page: 5000, Streams: 2}} {
		out, programs = append(out, growth{Name: "the floor: " + method.String()}), append(programs, w.floor(method, w.all))
	}
	c, err := newCounter(w.plane.Kubeconfig)
	if err != nil {
		return nil, err
	}
	pid := w.plane.PIDs[serverName]
	if residentOf(pid) == 0 {
		return nil, nil
	}
	for range min(growthRuns, w.runs) {
		for _, next := range w.order.Perm(len(programs)) {
			if err := w.collectServerGarbage(ctx, pid); err != nil {
				return nil, err
			}
			had, err := c.heap(ctx)
			if err != nil {
				return nil, err
			}
			before := residentOf(pid)
			peak, err := peakMemory(pid, func() error {
				_, _, err := w.run(ctx, programs[next])
				return err
			})
			if err != nil {
				return nil, err
			}
			has, err := c.heap(ctx)
			if err != nil {
				return nil, err
			}
			g := &out[next]
			g.Before, g.Peak = append(g.Before, before), append(g.Peak, peak)
			g.Made, g.Collected = append(g.Made, has.made-had.made), append(g.Collected, has.collections-had.collections)
		}
	}
	return out, nil
}

// peakMemory returns the peak memory of a process during do.
func peakMemory(pid int, do func() error) (peak int64, err error) {
	done, top := make(chan struct{}), make(chan int64)
	go func() {
		most := residentOf(pid)
		tick := time.NewTicker(glimpse)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, residentOf(pid))
			case <-done:
				top <- max(most, residentOf(pid))
				return
			}
		}
	}()
	err = do()
	close(done)
	return <-top, err
}

// collectServerGarbage makes the server run its Go garbage collection until it frees no
// more memory, since memory that it still holds would hide growth.
func (w *harness) collectServerGarbage(ctx context.Context, pid int) error {
	if err := w.touchObjects(ctx); err != nil {
		return err
	}
	if err := w.waitUntilQuiet(ctx); err != nil {
		return err
	}
	last := residentOf(pid)
	for begun := time.Now(); time.Since(begun) < longestCalm; {
		if err := w.triggerServerGC(ctx); err != nil {
			return err
		}
		time.Sleep(2 * time.Second)
		held := residentOf(pid)
		if held*100 >= last*99 { // at most one in a hundred was freed
			return nil
		}
		last = held
	}
	return nil
}

// triggerServerGC requests a heap profile from the server, which makes it collect garbage first.
func (w *harness) triggerServerGC(ctx context.Context) error {
	c, err := newCounter(w.plane.Kubeconfig)
	if err != nil {
		return err
	}
	if _, err := c.read(ctx, "/debug/pprof/heap?gc=1"); err != nil {
		return fmt.Errorf("have the server collect its garbage: %w", err)
	}
	return nil
}

// residentOf returns the resident memory of a process; 0 if it is unknown.
func residentOf(pid int) int64 { return kibibytes("/proc/"+strconv.Itoa(pid)+"/status", "VmRSS") }

// kibibytes returns a size, in bytes, from a file of "name: n kB" lines; 0 if it is
// unknown.
func kibibytes(path, name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(procField(path, name), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
