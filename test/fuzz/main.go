// Command fuzz runs every fuzz target in the given packages, and prints how many inputs each has
// executed. It prints the failures; go test saves failing inputs in the testdata of their
// package.
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
	r := report{Each: each, Results: make([]result, len(targets))}
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU()) // each target has one worker: see target.fuzz
	for i, t := range targets {
		group.Go(func() error {
			r.Results[i] = t.fuzz(ctx, each)
			fmt.Fprint(out, r.Results[i].summary()) // whole lines, as several goroutines write
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, c := range r.Results {
		if c.Outcome != fine {
			fmt.Fprintf(out, "\n%s%s", c.summary(), c.output)
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
