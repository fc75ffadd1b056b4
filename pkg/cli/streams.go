package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// Streams are what a command uses of its process, so that a test can replace it.
type Streams struct {
	In               io.Reader
	Out, Err         io.Writer
	InTerm           bool       // whether In is a terminal, so that the user can be asked
	OutTerm, ErrTerm bool       // whether Out and Err are terminals
	OutWidth         func() int // columns of the terminal Out; 0 if unknown
	ErrWidth         func() int // columns of the terminal Err; 0 if unknown
	Height           func() int // lines of the terminal Out or Err; 0 if unknown
	Getenv           func(string) string
	Now              func() time.Time
	Disk             backup.Disk       // carries out the changes of backups; nil: the disk
	Transport        http.RoundTripper // carries all requests; nil: the network
}

// Process returns the streams of this process.
func Process() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerm:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerm: term.IsTerminal(int(os.Stdout.Fd())), ErrTerm: term.IsTerminal(int(os.Stderr.Fd())),
		OutWidth: func() int { return columns(os.Stdout) }, ErrWidth: func() int { return columns(os.Stderr) },
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

// Text returns Out for what a person reads: lines and tables fit the terminal.
func (s *Streams) Text() io.Writer { return wrap.NewWriter(s.Out, s.OutWidth) }

// Progress replaces the last line of standard error, if that is a terminal. An empty one clears it.
func (s *Streams) Progress(format string, a ...any) {
	if s.ErrTerm {
		fmt.Fprintf(s.Err, "\r\x1b[K"+format, a...)
	}
}

// columns returns the width of a terminal, or 0.
func columns(terminal *os.File) int {
	width, _, _ := term.GetSize(int(terminal.Fd())) // 0 on an error
	return width
}
