package cli

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// usageError is a mistake on the command line, found before any request to a cluster.
type usageError struct {
	err     error
	command string // whose help says more; empty if the error says it all
}

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

// Usagef returns the error of a mistake on the command line, found before any request to a
// cluster.
func Usagef(format string, a ...any) error { return &usageError{err: fmt.Errorf(format, a...)} }

// WithHelp returns err as a usage error that refers to the help of a command. It returns nil
// if err is nil.
func WithHelp(err error, command string) error {
	if err == nil {
		return nil
	}
	return &usageError{err, command}
}

// UsageIf returns Usagef if the command line has this mistake, and nil otherwise.
func UsageIf(mistake bool, format string, a ...any) error {
	if !mistake {
		return nil
	}
	return Usagef(format, a...)
}

// RefuseFlags returns a usage error, in which %s is the flag, for the first of these flags that is given.
func RefuseFlags(given func(flag string) bool, format string, flags ...string) error {
	for _, flag := range flags {
		if given(flag) {
			return Usagef(format, flag)
		}
	}
	return nil
}

// CheckRules returns a usage error for the first id that names no audit rule.
func CheckRules(ids []string) error {
	for _, id := range ids {
		if !slices.Contains(audit.IDs(), id) {
			err := Usagef("there is no rule %s%s", Quote(id), DidYouMean(Nearest(id, audit.IDs())))
			return WithCommandHint(err, "all rules", "explain")
		}
	}
	return nil
}

type hintedError struct {
	error
	hint    string
	command []string // stands after the hint and a colon; nil if there is none
}

// WithHint returns err with a hint for the user, which is printed on a line of its own. It
// returns nil if err is nil.
func WithHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hintedError{err, hint, nil}
}

// WithCommandHint is WithHint for a hint that ends with a colon, which it gets here, and a suggested
// command of this program.
func WithCommandHint(err error, hint string, command ...string) error {
	if err == nil {
		return nil
	}
	return &hintedError{err, hint, command}
}

func (h *hintedError) Unwrap() error { return h.error }

// Refuse prints why nothing is done, and returns the exit code as an error.
func Refuse(s Streams, code ExitError, why, hint string) error {
	fmt.Fprintln(s.Err, "error: "+why)
	if hint != "" {
		fmt.Fprintln(s.Err, "hint: "+hint)
	}
	return code
}

// Quote returns s in quotes, shortened and escaped for a terminal.
func Quote(s string) string { return `"` + escape.Short(s, 200) + `"` }
