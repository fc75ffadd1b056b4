package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Streams are what a command uses of its process, so that a test can replace it.
type Streams struct {
	In               io.Reader
	Out, Err         io.Writer
	InTerm           bool       // whether In is a terminal, so that the user can be asked
	OutTerm, ErrTerm bool       // whether Out and Err are terminals
	ErrWidth         func() int // columns of the terminal Err; 0 if unknown
	Height           func() int // lines of the terminal Out or Err; 0 if unknown
	Getenv           func(string) string
	Now              func() time.Time
}

// Process returns the streams of this process.
func Process() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerm:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerm: term.IsTerminal(int(os.Stdout.Fd())), ErrTerm: term.IsTerminal(int(os.Stderr.Fd())),
		ErrWidth: func() int {
			width, _, _ := term.GetSize(int(os.Stderr.Fd())) // 0 on an error
			return width
		},
		Height: func() int {
			for _, stream := range []*os.File{os.Stdout, os.Stderr} {
				if _, height, _ := term.GetSize(int(stream.Fd())); height > 0 {
					return height
				}
			}
			return 0
		},
		Getenv: os.Getenv, Now: time.Now,
	}
}
