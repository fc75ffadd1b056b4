package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// identity identifies a process even after its PID was given to another one.
type identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // start time, in a format that is comparable only on the same system
}

// identify returns the identity of a running process.
func identify(pid int) (identity, error) {
	start, err := startOf(pid)
	if err != nil {
		return identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return identity{PID: pid, Start: start}, nil
}

// runs reports whether this process still runs. A zombie does not run.
func (i identity) runs() bool {
	if i.PID <= 0 || i.Start == "" {
		return false
	}
	start, err := startOf(i.PID)
	return err == nil && start == i.Start
}

// signal sends a signal to this process, or to none. On systems with process handles, the handle
// is taken before the check, so that it cannot refer to another process afterwards.
func (i identity) signal(s syscall.Signal) error {
	handle, err := os.FindProcess(i.PID)
	if err != nil {
		return fmt.Errorf("signal process %d: %w", i.PID, err)
	}
	defer handle.Release()
	if !i.runs() {
		return nil
	}
	if err := handle.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", i.PID, err)
	}
	return nil
}

// awaitGone waits until none of the processes runs.
func awaitGone(ctx context.Context, all ...identity) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		var left []int
		for _, each := range all {
			if each.runs() {
				left = append(left, each.PID)
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of processes %v: %w", left, ctx.Err())
		case <-tick.C:
		}
	}
}
