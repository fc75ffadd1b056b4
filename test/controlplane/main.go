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
)

const usage = `controlplane builds and runs a real Kubernetes control plane for tests.

  controlplane build [flags]   build the binaries if needed, print their folder
  controlplane run [flags]     run until stdin closes or a signal comes
  controlplane up [flags]      run in the background, print export KUBECONFIG=…
  controlplane down            stop what up started

controlplane COMMAND -h shows the flags of a command.
`

const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// streams are the standard streams of a process. The result is written to stdout, and everything
// else to stderr.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// The reader of our output may end first. A write must then fail instead of killing this
	// process, which would leave the servers and the folder behind. (An ignored signal would be
	// inherited by the servers, a handled one is not.)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	code := dispatch(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// dispatch runs one command line and returns its exit code.
func dispatch(ctx context.Context, args []string, s streams) int {
	if len(args) == 0 {
		fmt.Fprint(s.err, usage)
		return exitUsage
	}
	var command func(context.Context, []string, streams) error
	switch args[0] {
	case "build":
		command = buildCommand
	case "run":
		command = runCommand
	case "up":
		command = upCommand
	case "down":
		command = downCommand
	default:
		fmt.Fprintf(s.err, "controlplane: unknown command %q\n\n%s", args[0], usage)
		return exitUsage
	}
	err := command(ctx, args[1:], s)
	var misuse usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.As(err, &misuse):
		fmt.Fprintln(s.err, "controlplane:", err)
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(s.err, "controlplane: interrupted")
		return exitInterrupted
	default:
		fmt.Fprintln(s.err, "controlplane:", err)
		return exitFailed
	}
}

// usageError is an error in the command line.
type usageError struct{ error }

// parse reads the flags of a command that takes no other arguments.
func parse(fs *flag.FlagSet, args []string, s streams) error {
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(s.out, "usage: controlplane %s [flags]\n", fs.Name())
		fs.SetOutput(s.out)
		fs.PrintDefaults()
		return err
	}
	if err == nil && fs.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", fs.Name(), err)}
	}
	return nil
}
