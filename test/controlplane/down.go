package main

import (
	"context"
	"flag"
	"fmt"
	"syscall"
	"time"
)

func downCommand(ctx context.Context, args []string, s streams) error {
	var dir string
	fs := flag.NewFlagSet("down", flag.ContinueOnError)
	fs.StringVar(&dir, "state", "", stateUsage)
	if err := parse(fs, args, s); err != nil {
		return err
	}
	state, r, release, err := hold(ctx, dir, s.err)
	if err != nil {
		return err
	}
	defer release()
	ran := r.Run.runs()
	if err := end(ctx, r); err != nil {
		return err
	}
	if err := state.clear(); err != nil {
		return err
	}
	answer := "no control plane runs"
	if ran {
		answer = "the control plane is stopped"
	}
	_, err = fmt.Fprintln(s.out, answer)
	return err
}

// end stops the processes of a record and returns when all of them are gone. The run stops its
// servers itself; only if it was killed, or does not respond, each of them gets a signal.
func end(ctx context.Context, r record) error {
	if err := r.Run.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if goneWithin(ctx, 4*grace, r.Run) == nil && goneWithin(ctx, time.Second, r.Servers...) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, each := range r.all() {
		if err := each.signal(syscall.SIGKILL); err != nil {
			return err
		}
	}
	return goneWithin(ctx, grace, r.all()...)
}

func goneWithin(ctx context.Context, limit time.Duration, all ...identity) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return awaitGone(ctx, all...)
}
