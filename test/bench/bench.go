package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// bench creates an increasing number of objects and measures at each number. It measures the slow
// link with the fewest objects, where the link dominates.
func bench(ctx context.Context, o options, stdout, progress io.Writer) error {
	if err := checkMemory(o.stages[len(o.stages)-1]); err != nil {
		return err
	}
	return withHarness(ctx, o, progress, benchPlane(), func(w *harness) error {
		if err := w.discover(ctx); err != nil {
			return err
		}
		r := &report{Line: w.line(), Tries: w.runs, Machine: thisMachine(), Kubernetes: w.kubernetes, Types: len(w.all), Date: time.Now().UTC()}
		failed := w.measureStages(ctx, r)
		if len(r.Stages) == 0 {
			return failed
		}
		slices.Sort(w.busy)
		r.Busy, r.Busiest, r.Rest = w.busy[len(w.busy)/2], w.busy[len(w.busy)*9/10], w.rest
		return errors.Join(failed, w.publish(r, stdout))
	})
}

// measureStages adds the measurements for each number of objects to the report. After an error it
// has those that are complete.
func (w *harness) measureStages(ctx context.Context, r *report) error {
	before := 0
	for i, objects := range w.stages {
		seeded, err := w.fill(ctx, before, objects)
		if err != nil {
			return err
		}
		s, err := w.measure(ctx, objects)
		if err != nil {
			return err
		}
		s.Seeded, before = seeded, objects
		r.Stages = append(r.Stages, s)
		if i == 0 {
			if r.Crossing, err = w.measureSlowLink(ctx, slow); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill creates objects up to a number, and returns how long it took.
func (w *harness) fill(ctx context.Context, before, objects int) (time.Duration, error) {
	fmt.Fprintf(w.progress, "creating %s objects\n", thousands(objects-before))
	begun := time.Now()
	cmd := exec.CommandContext(ctx, w.self, seedCommand, "-before", strconv.Itoa(before), "-objects", strconv.Itoa(objects), "-kubeconfig", w.plane.Kubeconfig)
	cmd.Env = w.plane.Env()
	cmd.Stderr = w.progress
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("create objects: %w", err)
	}
	return time.Since(begun), nil
}
