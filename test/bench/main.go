package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// The subcommands. The benchmark starts all of them itself, except for act and watch.
const (
	floorCommand   = "floor"
	seedCommand    = "seed"
	actCommand     = "act"
	watchCommand   = "watch"
	litterCommand  = "litter"
	deletesCommand = "deletes"
)

type options struct {
	act     bool
	watch   bool
	objects int    // of act and watch
	stages  counts // of the others, in ascending order
	runs    int
	rest    time.Duration
	write   string
}

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := dispatch(ctx, os.Args[1:])
	release()
	os.Exit(code)
}

func dispatch(ctx context.Context, args []string) int {
	err := run(ctx, args)
	var misuse *usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.As(err, &misuse):
		fmt.Fprintln(os.Stderr, "bench:", err)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "bench: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	return exitFailed
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case floorCommand:
			return floor(ctx, args[1:], os.Stdin, os.Stdout)
		case seedCommand:
			return seed(ctx, args[1:], os.Stderr)
		case litterCommand:
			return createGarbage(ctx, args[1:], os.Stderr)
		case deletesCommand:
			return deletes(ctx, args[1:], os.Stdout)
		}
	}
	o, err := parse(args, os.Stdout)
	switch {
	case err != nil:
		return err
	case o.act:
		return benchAct(ctx, o, os.Stdout, os.Stderr)
	case o.watch:
		return benchWatch(ctx, o, os.Stdout, os.Stderr)
	}
	return bench(ctx, o, os.Stdout, os.Stderr)
}

// usageError is an error in the command line.
type usageError struct{ error }

func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.watch = len(args) > 0 && args[0] == watchCommand
	if o.act = len(args) > 0 && args[0] == actCommand; o.watch {
		args = args[1:]
		o.runs = 1
		flags.IntVar(&o.objects, "objects", 100_000, "how many objects to create")
	} else if o.act {
		args = args[1:]
		flags.IntVar(&o.objects, "objects", 10_000, "how many objects to create for each run")
		flags.IntVar(&o.runs, "runs", 3, "how often to measure each way to get rid of them")
	} else {
		o.stages = counts{50_000}
		flags.Var(&o.stages, "objects", "how many objects to create; several `numbers`, as 50000,500000, are measured one after the other")
		flags.IntVar(&o.runs, "runs", 5, "how often to run each program; twice as often up to 200,000 objects")
	}
	flags.DurationVar(&o.rest, "rest", 10*time.Second, "how long to wait, before each run, for the machine to be quiet")
	flags.StringVar(&o.write, "write", "", "write the figures to this `file`, as Markdown")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(stdout, "usage: bench [act|watch] [flags]")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return o, err
	}
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case (o.act || o.watch) && o.objects < 1 || o.runs < 1:
		err = errors.New("-objects and -runs must be at least 1")
	case !o.act && !o.watch:
		err = o.stages.check()
	}
	if err != nil {
		return o, &usageError{err}
	}
	return o, nil
}

// line returns the command line with the options of o.
func (o options) line() string {
	words := []string{"go run ./test/bench"}
	if o.act {
		words = append(words, actCommand)
	}
	objects := o.stages.String()
	if o.act {
		objects = strconv.Itoa(o.objects)
	}
	if o.watch {
		words, objects = append(words, watchCommand), strconv.Itoa(o.objects)
	}
	words = append(words, "-objects "+objects)
	if !o.watch {
		words = append(words, "-runs "+strconv.Itoa(o.runs))
	}
	if o.write != "" {
		words = append(words, "-write "+o.write)
	}
	return strings.Join(words, " ")
}
