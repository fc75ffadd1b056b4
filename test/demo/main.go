package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// limit is the time limit of the demo, without the first build of the control plane.
const limit = 5 * time.Minute

type options struct {
	keep, stop bool
	save       string
}

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}

// dispatch runs one command line and returns its exit code.
func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.keep, "keep", false, "leave the control plane running")
	flags.BoolVar(&o.stop, "stop", false, "stop what -keep left running, and do nothing else")
	flags.StringVar(&o.save, "save", "", "save what the plugin saw as a snapshot in this `file`")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil || flags.NArg() > 0 || o.stop && (o.keep || o.save != "") {
		fmt.Fprintln(stderr, "usage: demo [-keep] [-save FILE] | demo -stop")
		return exitUsage
	}

	run := show
	if o.stop {
		run = stop
	}
	err := run(ctx, o, stdout, stderr)
	if err == nil {
		return exitDone
	}
	select { // a Ctrl-C also reaches the child processes, and may end them before it reaches this one
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "\ninterrupted")
		return exitInterrupted
	default:
		fmt.Fprintln(stderr, "demo:", err)
		return exitFailed
	}
}

// show runs the demo. After an error, and unless the control plane is to be kept, it removes
// everything that it has started.
func show(ctx context.Context, o options, stdout, stderr io.Writer) (err error) {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	s := &stage{out: stdout, err: stderr}
	defer func() {
		if err != nil || !o.keep {
			err = errors.Join(err, s.clear())
		}
	}()
	fresh := true
	if o.keep {
		fresh, err = s.startKept(ctx, root)
	} else {
		err = s.startTemporary(ctx, root)
	}
	if err != nil {
		return err
	}
	// The first build of a control plane does not count.
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if fresh {
		if err := s.populate(ctx, root); err != nil {
			return err
		}
	}
	if err := s.perform(ctx, o.save); err != nil {
		return err
	}
	s.suggest(o.keep)
	return nil
}
