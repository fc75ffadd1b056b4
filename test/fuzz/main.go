// Command fuzz runs every fuzz target that there is in the packages it is given, and
// says how many inputs each has executed. What an input breaks is printed, and kept by
// go test in the testdata of its package.
//
//	go run ./test/fuzz [-time 30s] [-write docs/reliability.md] PACKAGE…
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

func main() {
	each := flag.Duration("time", 30*time.Second, "how long to run each target")
	write := flag.String("write", "", "write the figures to this `file`, as Markdown")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *each, *write, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, each time.Duration, write string, packages []string) error {
	targets, err := list(ctx, packages)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("there is no fuzz target")
	}
	r := report{Each: each, Courses: make([]course, len(targets))}
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU()) // of each target one worker: see course
	for i, t := range targets {
		group.Go(func() error {
			r.Courses[i] = t.fuzz(ctx, each)
			fmt.Fprint(out, r.Courses[i].line()) // whole lines
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, c := range r.Courses {
		if c.Verdict != fine {
			fmt.Fprintf(out, "\n%s%s", c.line(), c.said)
		}
	}
	fmt.Fprintf(out, "%s inputs in %s, %d broken\n", wording.Thousands(r.Inputs()), wording.Count(len(targets), "target"), r.Broken())
	if write != "" {
		if err := r.write(write); err != nil {
			return err
		}
	}
	if n := r.Broken(); n > 0 {
		return fmt.Errorf("%s broken", wording.Count(n, "target"))
	}
	return nil
}
