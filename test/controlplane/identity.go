package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// identity is a process that stays itself when its pid is given to another.
type identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // when it began, in words that only the same system compares
}

// identify returns the identity of a process that runs now.
func identify(pid int) (identity, error) {
	start, err := startOf(pid)
	if err != nil {
		return identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return identity{PID: pid, Start: start}, nil
}

// runs tells if this very process still runs. One that is dead but not reaped doesn't.
func (i identity) runs() bool {
	if i.PID <= 0 || i.Start == "" {
		return false
	}
	start, err := startOf(i.PID)
	return err == nil && start == i.Start
}

// signal sends a signal to this very process, or to none. (The handle is taken before the
// check; where the system has such handles it can't come to mean another process.)
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

// gone waits until none of the processes runs.
func gone(ctx context.Context, all ...identity) error {
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
