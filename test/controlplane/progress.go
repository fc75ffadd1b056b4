package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// beat is the interval at which a build reports its progress.
const beat = 10 * time.Second

// progress receives the output of `go build -v`. It counts the packages named there, reports the
// progress at every beat, and keeps everything else, which is error messages. It is safe for
// concurrent use.
type progress struct {
	out   io.Writer
	begun time.Time
	quit  chan struct{}
	ended sync.WaitGroup

	mu       sync.Mutex
	program  string
	total    int // packages to compile
	done     int // packages that were or are being compiled
	modules  int // downloaded modules
	partial  []byte
	complain []string
}

// newProgress starts the beat, and asks go how many packages of the recipe have to be compiled:
// -v does not name cached ones. (Commands are stale until they are installed.)
func newProgress(ctx context.Context, t thread, r recipe, out io.Writer) (*progress, error) {
	p := &progress{out: out, begun: time.Now(), quit: make(chan struct{}), program: "modules"}
	p.ended.Go(p.tell)

	args := append([]string{"list", "-deps", "-f", "{{if and .Stale (ne .Name `main`)}}{{.ImportPath}}{{end}}"}, r.flags...)
	for _, program := range r.module.programs() {
		args = append(args, program.path)
	}
	cmd := r.goCommand(args...)
	var stale bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stale, p
	if err := t.run(ctx, cmd); err != nil {
		p.stop()
		return nil, fmt.Errorf("list packages to build: %w\n%s", err, p.complaints())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = len(strings.Fields(stale.String()))
	return p, nil
}

// begin sets the program that is being built.
func (p *progress) begin(program string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.program, p.complain = program, nil
	p.print()
}

func (p *progress) stop() {
	close(p.quit)
	p.ended.Wait()
}

func (p *progress) tell() {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.mu.Lock()
			p.print()
			p.mu.Unlock()
		}
	}
}

// print requires the lock.
func (p *progress) print() {
	line := fmt.Sprintf("%5s  %s", time.Since(p.begun).Round(time.Second), p.program)
	switch {
	case p.total > 0:
		line += fmt.Sprintf("  %d/%d packages", min(p.done, p.total), p.total)
	case p.modules > 0:
		line += fmt.Sprintf("  %d downloaded", p.modules)
	}
	fmt.Fprintln(p.out, line)
}

func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partial = append(p.partial, b...)
	for {
		line, rest, ok := bytes.Cut(p.partial, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		p.take(string(line))
		p.partial = rest
	}
}

// take requires the lock. A line of -v is a plain import path. Any line that is neither that nor
// a download is an error message of the compiler or of go.
func (p *progress) take(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		p.modules++
	case line != "" && !strings.ContainsAny(line, " \t#:"):
		p.done++
	default:
		p.complain = append(p.complain, line)
	}
}

// complaints returns the error messages of the last program.
func (p *progress) complaints() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(append(p.complain, string(p.partial)), "\n")
}
