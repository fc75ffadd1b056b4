package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/print/escape"
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

// hinted is an error the user can do something about.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// finish says what went wrong, if anything did, and answers the exit code.
func finish(ctx context.Context, s Streams, err error) int {
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
	message, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintln(s.Err, "error: "+escape.Short(message, 2000))
	var hint *hinted
	if errors.As(err, &hint) {
		fmt.Fprintln(s.Err, "hint: "+escape.Terminal(hint.hint))
	}
	var mistake *usage
	if errors.As(err, &mistake) && mistake.command != "" {
		fmt.Fprintf(s.Err, "See '%s --help'.\n", mistake.command)
	}
	return exitUsage
}
