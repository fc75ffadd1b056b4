package main

import (
	"context"
	"time"
)

// Before every run the bench rests, until no more than a part of the machine is busy with
// other things, or until it has waited long enough.
const (
	pause = 300 * time.Millisecond
	quiet = 0.1
)

// turns runs every program once a round, each round in another order: what ran before is
// felt by what runs next. outputs are of the last round.
func (w *harness) turns(ctx context.Context, programs []program, rounds int) (samples []sample, outputs [][]byte, err error) {
	samples, outputs = make([]sample, len(programs)), make([][]byte, len(programs))
	for range rounds {
		for _, at := range w.order.Perm(len(programs)) {
			if err := w.touchObjects(ctx); err != nil {
				return nil, nil, err
			}
			if err := w.sweep(ctx); err != nil {
				return nil, nil, err
			}
			if err := w.waitUntilQuiet(ctx); err != nil {
				return nil, nil, err
			}
			c, out, err := w.run(ctx, programs[at])
			if err != nil {
				return nil, nil, err
			}
			samples[at], outputs[at] = append(samples[at], c), out
		}
	}
	return samples, outputs, nil
}

// waitUntilQuiet rests until the machine is quiet, and notes how quiet it became. The error says
// that there is no going on.
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
	return spare()
}
