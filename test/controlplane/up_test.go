package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// shell runs a command line to its end.
func shell(t *testing.T, tmp string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+tmp)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestUpAndDown(t *testing.T) {
	needBinaries(t)
	tmp, dir := shortTemp(t), t.TempDir()
	do := func(args ...string) (int, string, string) {
		t.Helper()
		return shell(t, tmp, append(args, "--state="+dir)...)
	}
	t.Cleanup(func() { _, _, _ = shell(t, tmp, "down", "--state="+dir) })

	code, first, stderr := do("up", "--collector=absent")
	if want := "export KUBECONFIG='" + dir + "/kubeconfig'\n"; code != exitDone || first != want {
		t.Fatalf("up: code %d, stdout %q, want %q\n%s", code, first, want, stderr)
	}
	r, err := state(dir).load()
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range r.all() {
		if !each.runs() {
			t.Errorf("process %d doesn't run", each.PID)
		}
	}
	if code, again, stderr := do("up"); code != exitDone || again != first || !strings.Contains(stderr, "runs already") {
		t.Errorf("second up: code %d, stdout %q, stderr %q", code, again, stderr)
	}
	if code, out, stderr := do("up", "--collector=on"); code != exitFailed || out != "" || !strings.Contains(stderr, "--collector=absent") {
		t.Errorf("up with other flags: code %d, stdout %q, stderr %q", code, out, stderr)
	}

	if code, out, stderr := do("down"); code != exitDone || out != "the control plane is stopped\n" {
		t.Errorf("down: code %d, stdout %q, stderr %q", code, out, stderr)
	}
	for _, each := range r.all() {
		if each.runs() {
			t.Errorf("process %d runs after down", each.PID)
		}
	}
	if _, err := os.Stat(state(dir).kubeconfig()); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig stays (%v)", err)
	}
	if code, out, stderr := do("down"); code != exitDone || out != "no control plane runs\n" {
		t.Errorf("second down: code %d, stdout %q, stderr %q", code, out, stderr)
	}
}

func TestFailedUpLeavesNothing(t *testing.T) {
	needBinaries(t)
	tmp, dir := shortTemp(t), t.TempDir()
	code, out, stderr := shell(t, tmp, "up", "--state="+dir, "--apiserver-flag=no-such-flag=1")
	if code != exitFailed || out != "" || !strings.Contains(stderr, "unknown flag: --no-such-flag") {
		t.Errorf("up: code %d, stdout %q, stderr %q", code, out, stderr)
	}
	if _, err := os.Stat(state(dir).file(recordFile)); !os.IsNotExist(err) {
		t.Errorf("the record stays (%v)", err)
	}
}

func TestDownDoesNotSignalARecycledPID(t *testing.T) {
	s := state(t.TempDir())
	me := identity{PID: os.Getpid(), Start: "long ago"}
	if err := s.save(record{Run: me, Servers: []identity{me}}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := downCommand(t.Context(), []string{"--state=" + string(s)}, streams{out: &out, err: &out}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "no control plane runs\n" {
		t.Errorf("down says %q", got)
	}
}
