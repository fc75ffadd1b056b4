package main

import (
	"context"
	"time"
)

// Before every run the benchmark waits until the rest of the machine is quiet, with a time
// limit.
const (
	pause = 300 * time.Millisecond
	quiet = 0.1
)

// turns runs every program once per round, each round in another order, as a run affects
// the next one. It calls before, unless that is nil, before each run, and returns the outputs of
// the last round.
func (w *harness) turns(ctx context.Context, programs []program, rounds int, before func(context.Context, *harness) error) (samples []sample, outputs [][]byte, err error) {
	samples, outputs = make([]sample, len(programs)), make([][]byte, len(programs))
	for range rounds {
		for _, next := range w.order.Perm(len(programs)) {
			if before != nil {
				if err := before(ctx, w); err != nil {
					return nil, nil, err
				}
			}
			if err := w.triggerServerGC(ctx); err != nil {
				return nil, nil, err
			}
			if err := w.waitUntilQuiet(ctx); err != nil {
				return nil, nil, err
			}
			servers := w.serverCPU("kube-apiserver", "etcd")
			c, out, err := w.run(ctx, programs[next])
			if err != nil {
				return nil, nil, err
			}
			c.Servers = w.serverCPU("kube-apiserver", "etcd") - servers
			samples[next], outputs[next] = append(samples[next], c), out
		}
	}
	return samples, outputs, nil
}

// waitUntilQuiet waits until the machine is quiet, and records how quiet it became. It
// returns an error if the benchmark cannot continue.
func (w *harness) waitUntilQuiet(ctx context.Context) error {
	for begun := time.Now(); ; {
		busy := sampleBusy(pause)
		if busy <= quiet || time.Since(begun) >= w.rest || ctx.Err() != nil {
			w.busy = append(w.busy, busy)
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return checkFreeMemory()
}
