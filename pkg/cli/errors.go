package cli

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// UsageError is a mistake on the command line, found before any request to a cluster.
type UsageError struct {
	Err     error
	Command string // whose help says more; empty if the error says it all
}

func (u *UsageError) Error() string { return u.Err.Error() }
func (u *UsageError) Unwrap() error { return u.Err }

func Usagef(format string, a ...any) error { return &UsageError{Err: fmt.Errorf(format, a...)} }

type hintedError struct {
	error
	hint string
}

// WithHint returns err with a hint for the user, which is printed on a line of its own.
func WithHint(err error, hint string) error { return &hintedError{err, hint} }

func (h *hintedError) Unwrap() error { return h.error }

// refuse prints why nothing is done, and returns the exit code as an error.
func refuse(s Streams, code ExitError, why, hint string) error {
	fmt.Fprintln(s.Err, "error: "+why)
	if hint != "" {
		fmt.Fprintln(s.Err, "hint: "+hint)
	}
	return code
}

// Quote returns s in quotes, shortened and escaped for a terminal.
func Quote(s string) string { return `"` + escape.Short(s, 200) + `"` }
