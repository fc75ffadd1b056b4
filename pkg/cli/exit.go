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
	ExitDone        = 0
	ExitFound       = 1   // findings at or above --fail-on; a step failed, something is left or blocked, or nothing proves otherwise
	ExitUsage       = 2   // the command line is wrong, or there is no answer to give
	ExitIncomplete  = 3   // a scan was incomplete, and --strict
	ExitUnconfirmed = 4   // declined, or nobody could be asked
	exitInterrupted = 130 // as a shell reports SIGINT
)

// ExitError ends a command whose answer is already printed with another code than 0.
type ExitError int

func (s ExitError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// OrNil returns the code as an error, and nil for exitDone.
func (s ExitError) OrNil() error {
	if s == ExitDone {
		return nil
	}
	return s
}

// UsageError is a mistake on the command line, found before anything was asked of a
// cluster.
type UsageError struct {
	Err     error
	Command string // whose help says more; empty where the error says it all
}

func (u *UsageError) Error() string { return u.Err.Error() }
func (u *UsageError) Unwrap() error { return u.Err }

func Usagef(format string, a ...any) error { return &UsageError{Err: fmt.Errorf(format, a...)} }

// hintedError is an error that the user can do something about.
type hintedError struct {
	error
	hint string
}

// WithHint returns err with a hint that is printed on a line of its own.
func WithHint(err error, hint string) error { return &hintedError{err, hint} }

func (h *hintedError) Unwrap() error { return h.error }

// Finish says what went wrong with a command line, if anything did, and answers the exit
// code.
func Finish(ctx context.Context, args []string, s Streams, err error) int {
	var code ExitError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		fmt.Fprintln(s.Err, "interrupted: nothing was changed")
		return exitInterrupted
	}
	message, _, _ := strings.Cut(redact.Error(err, addresses(args)...).Error(), "\n")
	fmt.Fprintln(s.Err, "error: "+escape.Short(message, 2000))
	var hint *hintedError
	if errors.As(err, &hint) {
		fmt.Fprintln(s.Err, "hint: "+escape.Terminal(redact.Text(hint.hint)))
	}
	var mistake *UsageError
	if errors.As(err, &mistake) && mistake.Command != "" {
		fmt.Fprintf(s.Err, "See '%s --help'.\n", mistake.Command)
	}
	return ExitUsage
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
