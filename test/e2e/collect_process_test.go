package e2e

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
)

// process is a running program.
type process struct {
	*scene
	cmd    *exec.Cmd
	begun  time.Time
	stdout *screen
	stderr *screen
	ended  chan error
}

// screen is the output of a process so far.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String returns the text with plain line breaks; a terminal has CR LF.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.text.String(), "\r\n", "\n")
}

func (t tool) command(args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(t.limit, 2*waitTimeout))
	t.Cleanup(cancel)
	if t.user != "" {
		args = append(args, "--context="+t.controlPlane.Context(t.user))
	}
	p := &process{scene: t.scene, begun: time.Now(), stdout: &screen{}, stderr: &screen{}, ended: make(chan error, 1)}
	p.cmd = exec.CommandContext(ctx, filepath.Join(bin, "kubectl-gc"), args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = t.env, p.stdout, p.stderr
	return p
}

// start starts the program.
func (t tool) start(args ...string) *process {
	t.Helper()
	p := t.command(args...)
	t.must(p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	return p
}

// terminal is a process with a terminal.
type terminal struct {
	*process
	keys *os.File
}

// atTerminal starts the program at a terminal. All of its output goes there.
func (t tool) atTerminal(args ...string) *terminal {
	t.Helper()
	p := t.command(args...)
	p.cmd.Stdout, p.cmd.Stderr = nil, nil
	keys, err := pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 40, Cols: 160})
	t.must(err)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		buffer := make([]byte, 4096)
		for {
			n, err := keys.Read(buffer)
			_, _ = p.stdout.Write(buffer[:n])
			if err != nil { // the program has closed its end
				return
			}
		}
	}()
	go func() {
		err := p.cmd.Wait()
		<-shown
		p.ended <- err
	}()
	t.Cleanup(func() { _ = keys.Close() })
	return &terminal{p, keys}
}

// press sends keys to the terminal.
func (t *terminal) press(keys string) {
	t.Helper()
	_, err := t.keys.WriteString(keys)
	t.must(err)
}

// awaitText waits until the process has written a text to either stream.
func (p *process) awaitText(words string) {
	p.Helper()
	p.await("the words "+words, func(context.Context) (bool, error) {
		select {
		case err := <-p.ended:
			p.ended <- err
			if !strings.Contains(p.stdout.String()+p.stderr.String(), words) {
				return false, errors.New("it has ended: " + p.stdout.String() + p.stderr.String())
			}
		default:
		}
		return strings.Contains(p.stdout.String()+p.stderr.String(), words), nil
	})
}

// wait waits for the end of the process. The exit code of a process killed by a signal is -1.
func (p *process) wait() result {
	p.Helper()
	err := <-p.ended
	p.ended <- err
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.Fatal(err)
	}
	return result{
		Stdout: p.stdout.String(), Stderr: p.stderr.String(), Code: p.cmd.ProcessState.ExitCode(), Took: time.Since(p.begun), line: p.cmd.Args[1:],
	}
}
