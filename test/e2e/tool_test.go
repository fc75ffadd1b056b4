package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

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
