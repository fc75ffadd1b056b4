package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// The exit codes: a public contract (docs/exit-codes.md).
const (
	exitDone        = 0
	exitFound       = 1   // findings at or above --fail-on; a step failed, something is left or blocked, or nothing proves otherwise
	exitUsage       = 2   // the command line is wrong, or there is no answer to give
	exitIncomplete  = 3   // a scan was incomplete, and --strict
	exitUnconfirmed = 4   // declined, or nobody could be asked
	exitInterrupted = 130 // as a shell reports SIGINT
)

// status ends a command whose answer is already printed with another code than 0.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// orNil returns the code as an error, and nil for exitDone.
func (s status) orNil() error {
	if s == exitDone {
		return nil
	}
	return s
}

// usage is a mistake on the command line, found before anything was asked of a
// cluster.
type usage struct {
	err     error
	command string // whose help says more; empty where the error says it all
}

func (u *usage) Error() string { return u.err.Error() }
func (u *usage) Unwrap() error { return u.err }

func usagef(format string, a ...any) error { return &usage{err: fmt.Errorf(format, a...)} }

// hinted is an error that the user can do something about.
type hinted struct {
	error
	hint string
}

// withHint returns err with a hint that is printed on a line of its own.
func withHint(err error, hint string) error { return &hinted{err, hint} }

func (h *hinted) Unwrap() error { return h.error }

// finish says what went wrong with a command line, if anything did, and answers the exit
// code.
func finish(ctx context.Context, args []string, s Streams, err error) int {
	var code status
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		fmt.Fprintln(s.Err, "interrupted: nothing was changed")
		return exitInterrupted
	}
	message, _, _ := strings.Cut(redact.Error(err, addresses(args)...).Error(), "\n")
	fmt.Fprintln(s.Err, "error: "+escape.Short(message, 2000))
	var hint *hinted
	if errors.As(err, &hint) {
		fmt.Fprintln(s.Err, "hint: "+escape.Terminal(redact.Text(hint.hint)))
	}
	var mistake *usage
	if errors.As(err, &mistake) && mistake.command != "" {
		fmt.Fprintf(s.Err, "See '%s --help'.\n", mistake.command)
	}
	return exitUsage
}

// addresses returns the URLs on a command line, which an error may quote wherever they
// were given.
func addresses(args []string) (out []string) {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		if strings.Contains(arg, "://") {
			out = append(out, arg, escape.Terminal(arg)) // as errors show it
		}
	}
	return out
}
