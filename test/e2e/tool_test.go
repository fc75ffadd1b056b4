package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/kubectl-gc/kubectl-gc/test/schema"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// tool is a way to run the program.
type tool struct {
	*scene
	env   []string
	stdin string
	user  string        // empty: admin
	limit time.Duration // of a started run; 0: two minutes
}

// result is the result of a run.
type result struct {
	Stdout, Stderr string
	Code           int
	Took           time.Duration
	line           []string
}

// gc runs the program on the shared control plane as its admin.
func (s *scene) gc(args ...string) result {
	s.Helper()
	return s.tool().gc(args...)
}

func (s *scene) tool() tool {
	s.Helper()
	s.must(testcluster.RequireTestCluster(s.controlPlane.Kubeconfig))
	return tool{scene: s, env: s.controlPlane.Env()}
}

// toolAs returns the tool for a user who has only the granted permissions.
func (s *scene) toolAs(user string) tool {
	t := s.tool()
	t.user = user
	return t
}

// gc runs the program and waits for its end.
func (t tool) gc(args ...string) result {
	t.Helper()
	return t.exec(filepath.Join(bin, "kubectl-gc"), args...)
}

// kubectl runs the real kubectl, which finds the program in its PATH.
func (s *scene) kubectl(args ...string) result {
	s.Helper()
	t := s.tool()
	t.env = append(t.env, "PATH="+strings.Join([]string{bin, filepath.Dir(s.controlPlane.KubectlPath), os.Getenv("PATH")}, string(os.PathListSeparator)))
	return t.exec(s.controlPlane.KubectlPath, args...)
}

func (t tool) exec(program string, args ...string) result {
	t.Helper()
	r, ended := t.attempt(program, args...)
	if !ended {
		t.Fatalf("kubectl gc %s does not end\n%s", r.output(), r.Stderr)
	}
	return r
}

// attempt runs a program and reports whether it ended in time. If not, it makes the program
// print its goroutines.
func (t tool) attempt(program string, args ...string) (r result, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	if t.user != "" {
		args = append(slices.Clone(args), "--context="+t.controlPlane.Context(t.user))
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.env, strings.NewReader(t.stdin), &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = waitTimeout / 6
	begun := time.Now()
	err := cmd.Run()
	r = result{Stdout: stdout.String(), Stderr: stderr.String(), Took: time.Since(begun), line: args}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, false
	case errors.As(err, &exit):
		if r.Code = exit.ExitCode(); r.Code < 0 {
			r.Stderr += "\n" + exit.String() // the signal that ended it
		}
	case err != nil:
		t.Fatal(err)
	}
	if err := schema.Check("../../docs/schemas", stdout.Bytes()); err != nil {
		t.Errorf("kubectl gc %s: %v", r.output(), err)
	}
	return r, true
}

func (r result) output() string {
	line := strings.Join(r.line, " ")
	return line[:min(len(line), 200)]
}

// exits requires an exit code.
func (r result) exits(t testing.TB, code int) result {
	t.Helper()
	if r.Code != code {
		t.Fatalf("kubectl gc %s exits with %d, want %d\nstdout: %s\nstderr: %s", r.output(), r.Code, code, short(r.Stdout), short(r.Stderr))
	}
	return r
}

// warns requires words on standard error.
func (r result) warns(t testing.TB, words ...string) result {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(r.Stderr, w) {
			t.Errorf("kubectl gc %s does not say %q on stderr: %s", r.output(), w, short(r.Stderr))
		}
	}
	return r
}

// shows requires words on standard output.
func (r result) shows(t testing.TB, words ...string) result {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(r.Stdout, w) {
			t.Errorf("kubectl gc %s does not say %q on stdout: %s", r.output(), w, short(r.Stdout))
		}
	}
	return r
}

func short(s string) string {
	const most = 4000
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// decode decodes a document without unknown fields.
func decode[T any](t testing.TB, r result) T {
	t.Helper()
	var out T
	d := json.NewDecoder(strings.NewReader(r.Stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("kubectl gc %s: %v\nstdout: %s\nstderr: %s", r.output(), err, short(r.Stdout), short(r.Stderr))
	}
	return out
}

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
