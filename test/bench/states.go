package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// compactionInterval is how often the API server compacts etcd here. The default is five minutes,
// which a benchmark cannot wait for several times; what counts is whether a type has changed since.
const compactionInterval = 30 * time.Second

// benchPlane returns the options of the control plane that is read from.
func benchPlane() testcluster.Options {
	return testcluster.Options{Collector: testcluster.Absent, APIServerFlags: []string{"etcd-compaction-interval=" + compactionInterval.String()}}
}

// writesPerSecond is how many objects change while a busy cluster is scanned.
const writesPerSecond = 100

// state is what goes on in a cluster that is scanned.
type state struct {
	Name string
	Text string // a sentence
	// enter brings the cluster into the state; leave ends it.
	enter func(ctx context.Context, w *harness) (leave func(), err error)
	// touch changes an object of every large type before each run.
	touch bool
}

var states = []state{
	{Name: "changing", Text: "One object of every large type is changed before each run, so the server has every state since the last compaction of etcd in its cache.", touch: true},
	{Name: "quiet", Text: "No object has changed since the last compaction of etcd, as those of most types of most clusters have not.", enter: awaitCompaction},
	{Name: "busy", Text: fmt.Sprintf("%d objects change per second while the scan runs.", writesPerSecond), enter: keepWriting},
}

// stateResult has the measurements in one state.
type stateResult struct {
	state
	Runs  int
	Ways  []attempt // the best one first
	Audit sample
}

// Floor returns the costs of the best way to list.
func (r stateResult) Floor() cost { return r.Ways[0].Runs.Median() }

// stateWays are the ways to list that are tried in every state.
var stateWays = []listMethod{{Streams: 2}, {Streams: 8}, {Cached: true, Streams: 2}, {Page: 5000, Streams: 2}, {Page: 50_000, Streams: 2}}

// measureStates compares audit with the best way to list, in every state.
func (w *harness) measureStates(ctx context.Context, runs int) ([]stateResult, error) {
	var out []stateResult
	for _, s := range states {
		r, err := w.measureState(ctx, s, runs)
		if err != nil {
			return nil, fmt.Errorf("measure the state %q: %w", s.Name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func (w *harness) measureState(ctx context.Context, s state, runs int) (stateResult, error) {
	out := stateResult{state: s, Runs: runs}
	programs := []program{w.command(true, "audit")}
	for _, way := range stateWays {
		programs = append(programs, w.floor(way, w.all))
	}
	fmt.Fprintf(w.progress, "state: %s, %d runs each\n", s.Name, runs)
	if s.enter != nil {
		leave, err := s.enter(ctx, w)
		if err != nil {
			return out, err
		}
		defer leave()
	}
	samples, _, err := w.turnsWith(ctx, programs, runs, s.touch)
	if err != nil {
		return out, err
	}
	out.Audit = samples[0]
	for i, way := range stateWays {
		out.Ways = append(out.Ways, attempt{way, samples[i+1]})
	}
	sortAttempts(out.Ways)
	return out, nil
}

// awaitCompaction waits until the server has compacted etcd twice: the first time it only notes the
// revision up to which it will.
func awaitCompaction(ctx context.Context, _ *harness) (leave func(), err error) {
	select {
	case <-time.After(2*compactionInterval + compactionInterval/2):
		return func() {}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// keepWriting changes objects at a steady rate, in the background.
func keepWriting(ctx context.Context, w *harness) (leave func(), err error) {
	touch, objects, err := w.toucher()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	var writing sync.WaitGroup
	writing.Go(func() {
		tick := time.NewTicker(time.Second / writesPerSecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = touch(ctx, i%objects) // one that fails changes nothing, and the next follows
			}
		}
	})
	return func() { stop(); writing.Wait() }, nil
}
