package main

import (
	"context"
	"encoding/json"
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
	// enter brings the cluster into the state; leave ends it. It may be nil.
	enter func(ctx context.Context, w *harness) (leave func(), err error)
	// before is called before each run. It may be nil.
	before func(ctx context.Context, w *harness) error
	// long is true if each run takes long to prepare, so that fewer are worth while.
	long bool
}

var states = []state{
	{Name: "changing", Text: "One object of every large type is changed before each run, so the server has every state since the last compaction of etcd in its cache.", before: change},
	{Name: "quiet", Text: "No object has changed since the last compaction of etcd, as those of most types of most clusters have not.", enter: awaitCompaction},
	{Name: "busy", Text: fmt.Sprintf("%d objects change per second while the scan runs.", writesPerSecond), enter: keepWriting},
	{Name: "restarted", Text: "The API server is restarted before each run.", before: restart, long: true},
}

// stateResult has the measurements in one state.
type stateResult struct {
	state
	Runs  int
	Ways  []attempt // the best one first
	Audit sample
	Moved transferred // by one way to list
}

// Floor returns the costs of the best way to list.
func (r stateResult) Floor() cost { return r.Ways[0].Runs.Median() }

// listMethods returns the ways to list that are tried in a state.
func (s state) listMethods() []listMethod {
	if s.long {
		return []listMethod{{Streams: 2}, {Streams: 8}, {Cached: true, Streams: 2}}
	}
	return []listMethod{
		{Streams: 2},
		{Streams: 4},
		{Streams: 8},
		{Cached: true, Streams: 2},
		{Cached: true, Streams: 4},
		{Page: 5000, Streams: 2},
		{Page: 50_000, Streams: 2},
	}
}

// measureStates compares audit with the best way to list, in every state. Those that take long to
// prepare are measured in half of the runs.
func (w *harness) measureStates(ctx context.Context, runs int) ([]stateResult, error) {
	var out []stateResult
	for _, s := range states {
		n := runs
		if s.long {
			n = (runs + 1) / 2
		}
		r, err := w.measureState(ctx, s, n)
		if err != nil {
			return nil, fmt.Errorf("measure the state %q: %w", s.Name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func (w *harness) measureState(ctx context.Context, s state, runs int) (stateResult, error) {
	out := stateResult{state: s, Runs: runs}
	ways := s.listMethods()
	programs := []program{w.command(true, "audit")}
	for _, way := range ways {
		programs = append(programs, w.floor(way, w.all))
	}
	fmt.Fprintf(w.progress, "cluster %s: %d ways, %d runs each\n", s.Name, len(programs), runs)
	if s.enter != nil {
		leave, err := s.enter(ctx, w)
		if err != nil {
			return out, err
		}
		defer leave()
	}
	samples, outputs, err := w.turns(ctx, programs, runs, s.before)
	if err != nil {
		return out, err
	}
	out.Audit = samples[0]
	if err := json.Unmarshal(outputs[1], &out.Moved); err != nil {
		return out, fmt.Errorf("read what %s says: %w", programs[1].name, err)
	}
	for i, way := range ways {
		out.Ways = append(out.Ways, attempt{way, samples[i+1]})
	}
	sortAttempts(out.Ways)
	return out, nil
}

// change changes one object of every large type.
func change(ctx context.Context, w *harness) error { return w.touchObjects(ctx) }

// restart restarts the API server.
func restart(ctx context.Context, w *harness) error { return w.plane.RestartAPIServer(ctx) }

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
