package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asCommand makes this test binary act as the command, so that tests can kill it.
const asCommand = "KUBECTL_GC_TEST_AS_CONTROLPLANE"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// runner is a run in a separate process, with its own temporary folder.
type runner struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *json.Decoder
	stderr bytes.Buffer
	tmp    string
}

// newRunner starts a run and does not wait until it is ready. It skips tests that would otherwise
// take minutes.
func newRunner(t *testing.T, args ...string) *runner {
	t.Helper()
	needBinaries(t)
	r := &runner{tmp: shortTemp(t)}
	r.cmd = exec.Command(os.Args[0], append([]string{"run", "--only-if-built"}, args...)...)
	r.cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+r.tmp)
	r.cmd.Stderr = &r.stderr
	stdin, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdin, r.stdout = stdin, json.NewDecoder(stdout)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close() })
	return r
}

// shortTemp returns a temporary folder whose path is short enough for a socket.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func needBinaries(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	if _, err := build(t.Context(), io.Discard, "", true); errors.Is(err, errNotBuilt) {
		t.Skip("SKIPPED, NOT TESTED: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// ready waits until the run is ready.
func (r *runner) ready(t *testing.T) ready {
	t.Helper()
	var out ready
	if err := r.stdout.Decode(&out); err != nil || out.Server == "" {
		t.Fatalf("the run is not ready: %v\n%s", err, &r.stderr)
	}
	return out
}

// exit waits for the run to end by itself.
func (r *runner) exit(t *testing.T) int {
	t.Helper()
	timeout := time.AfterFunc(30*time.Second, func() { _ = r.cmd.Process.Kill() })
	defer timeout.Stop()
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// poll waits until a condition holds.
func poll(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick, timeout := time.NewTicker(25*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for !holds() {
		select {
		case <-timeout:
			t.Fatal("timeout: ", what)
		case <-tick.C:
		}
	}
}

// requireGone requires that the processes end soon, and that the run leaves no file.
func (r *runner) requireGone(t *testing.T, pids map[string]int) {
	t.Helper()
	for name, pid := range pids {
		poll(t, name+" ends", func() bool { return !processRuns(pid) })
	}
	if left, err := filepath.Glob(filepath.Join(r.tmp, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// processRuns reports whether a process runs. A zombie does not.
func processRuns(pid int) bool {
	if line, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "cmdline")); runtime.GOOS == "linux" {
		return err == nil && len(line) > 0
	}
	return syscall.Kill(pid, 0) == nil
}

func TestRunEndsWithItsStdin(t *testing.T) {
	r := newRunner(t, "--collector=off")
	start := r.ready(t)
	if len(start.PIDs) != 3 || start.Collector != collectorOff {
		t.Errorf("started as %+v", start)
	}
	r.stdin.Close()
	if code := r.exit(t); code != exitDone {
		t.Errorf("exit code %d\n%s", code, &r.stderr)
	}
	r.requireGone(t, start.PIDs)
}

func TestKilledRunLeavesNoProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process of its parent's death")
	}
	r := newRunner(t)
	start := r.ready(t)
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.exit(t)
	for name, pid := range start.PIDs {
		poll(t, name+" ends", func() bool { return !processRuns(pid) })
	}
	t.Setenv("TMPDIR", r.tmp)
	removeStale()
	r.requireGone(t, start.PIDs)
}

func TestRunEndsWhenAServerDies(t *testing.T) {
	r := newRunner(t, "--collector=absent")
	start := r.ready(t)
	if err := syscall.Kill(start.PIDs["kube-apiserver"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := r.exit(t); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if want := "kube-apiserver ended by itself (signal: killed)"; !strings.Contains(r.stderr.String(), want) {
		t.Errorf("stderr is %q, want %q in it", &r.stderr, want)
	}
	r.requireGone(t, start.PIDs)
}

func TestInterruptDuringStartLeavesNothing(t *testing.T) {
	r := newRunner(t)
	poll(t, "kube-apiserver starts", func() bool {
		logs, _ := filepath.Glob(filepath.Join(r.tmp, "*", "kube-apiserver.log"))
		return len(logs) > 0
	})
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := r.exit(t); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, &r.stderr)
	}
	r.requireGone(t, nil)
}
