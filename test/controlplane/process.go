package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// process is one server of a control plane.
type process struct {
	name   string
	handle *os.Process
	log    string
	from   int64         // where the log of this process begins, after those of earlier ones
	exited chan struct{} // closed when it has ended
	state  string        // how it ended; valid after exited is closed
}

// launch starts a server in dir, which also gets its log.
func launch(dir, bin, name string, args []string) (*process, error) {
	path := filepath.Join(dir, name+".log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", name, err)
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", name, err)
	}

	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.Env = dir, environment(dir)
	// Files instead of pipes, so that a server can write even after this process has ended.
	cmd.Stdout, cmd.Stderr = log, log
	if err := startAttached(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, handle: cmd.Process, log: path, from: info.Size(), exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		p.state = cmd.ProcessState.String()
		close(p.exited)
	}()
	return p, nil
}

// environment returns the environment of a server. It leaves out KUBECONFIG, proxies, ETCD_*
// (which etcd reads as flags), and everything else that a server does not need.
func environment(home string) []string {
	env := []string{"HOME=" + home}
	for _, name := range []string{"PATH", "TMPDIR", "TZ", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// died returns an exitError if p has ended, else nil.
func (p *process) died() error {
	select {
	case <-p.exited:
		return &exitError{name: p.name, state: p.state, tail: p.tail()}
	default:
		return nil
	}
}

// exitError is the error of a server that ended by itself.
type exitError struct{ name, state, tail string }

func (e *exitError) Error() string {
	return fmt.Sprintf("%s ended by itself (%s), its last lines:\n%s", e.name, e.state, e.tail)
}

// stop stops p and returns when it has ended. It sends SIGTERM first, and SIGKILL after the grace
// period.
func (p *process) stop(grace time.Duration) {
	_ = p.handle.Signal(syscall.SIGTERM) // has no effect if it has ended, even if its PID was reused
	select {
	case <-p.exited:
		return
	case <-time.After(grace):
	}
	_ = p.handle.Kill()
	<-p.exited
}

// await calls probe until it succeeds, ctx ends, or p or one of the others ends. A success counts
// only if all of them still run afterwards, because another process that took the port may answer
// the probe.
func (p *process) await(ctx context.Context, probe func(context.Context) error, others ...*process) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	last := errors.New("none")
	for {
		answer := attempt(ctx, probe)
		for _, each := range append(others, p) {
			if err := each.died(); err != nil {
				return err
			}
		}
		if answer == nil {
			return nil
		}
		if ctx.Err() == nil { // otherwise it is only a consequence of that
			last = answer
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("wait for %s: %w, its last answer: %w, its last lines:\n%s", p.name, ctx.Err(), last, p.tail())
			}
			return fmt.Errorf("wait for %s: %w", p.name, ctx.Err())
		case <-tick.C:
		}
	}
}

// attempt limits the time of one probe, so that a request without an answer is repeated.
func attempt(ctx context.Context, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return probe(ctx)
}

// written returns what p has logged so far, at most the last megabyte.
func (p *process) written() []byte {
	f, err := os.Open(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	defer f.Close()
	from := p.from
	if info, err := f.Stat(); err == nil {
		from = max(from, info.Size()-1<<20)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, from, 1<<62))
	if err != nil {
		return []byte(err.Error())
	}
	return data
}

// tail returns the last lines of p's log, indented.
func (p *process) tail() string {
	const lines, width = 12, 400
	log := bytes.TrimSpace(p.written())
	if len(log) == 0 {
		return "  (none)"
	}
	all := strings.Split(string(log), "\n")
	var b strings.Builder
	for _, line := range all[max(0, len(all)-lines):] {
		if len(line) > width {
			line = line[:width] + "…"
		}
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return strings.TrimRight(b.String(), "\n")
}
