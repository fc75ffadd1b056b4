package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Streams are a process's surroundings, as values.
type Streams struct {
	In               io.Reader
	Out, Err         io.Writer
	InTerm           bool       // whether In is a terminal, at which somebody can be asked
	OutTerm, ErrTerm bool       // whether Out and Err are
	ErrWidth         func() int // of the terminal that Err is, in columns; 0: unknown
	Getenv           func(string) string
	Now              func() time.Time
}

// Process are the real surroundings of this process.
func Process() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerm:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerm: term.IsTerminal(int(os.Stdout.Fd())), ErrTerm: term.IsTerminal(int(os.Stderr.Fd())),
		ErrWidth: func() int {
			width, _, _ := term.GetSize(int(os.Stderr.Fd())) // 0 where nobody knows
			return width
		},
		Getenv: os.Getenv, Now: time.Now,
	}
}
