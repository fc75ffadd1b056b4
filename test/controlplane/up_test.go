package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// command returns this test binary as the command.
func command(tmp string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+tmp)
	return cmd
}

// shell runs a command line to its end.
func shell(t *testing.T, tmp string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := command(tmp, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestUpAndDown(t *testing.T) {
	needBinaries(t)
	tmp, dir := shortTemp(t), t.TempDir()
	config := filepath.Join(dir, kubeconfigFile)
	do := func(args ...string) (int, string, string) {
		t.Helper()
		return shell(t, tmp, append(args, "--state="+dir)...)
	}
	t.Cleanup(func() { _, _, _ = shell(t, tmp, "down", "--state="+dir) })

	code, first, stderr := do("up", "--collector=absent")
	if want := "export KUBECONFIG='" + config + "'\n"; code != exitDone || first != want {
		t.Fatalf("up: code %d, stdout %q, want %q\n%s", code, first, want, stderr)
	}
	pid := runOf(config)
	if pid == 0 || !processRuns(pid) {
		t.Errorf("process %d doesn't run", pid)
	}
	if code, again, stderr := do("up"); code != exitDone || again != first || runOf(config) != pid {
		t.Errorf("second up: code %d, stdout %q, stderr %q", code, again, stderr)
	}
	if code, out, stderr := do("up", "--collector=on"); code != exitFailed || out != "" || !strings.Contains(stderr, "runs already") {
		t.Errorf("up with other flags: code %d, stdout %q, stderr %q", code, out, stderr)
	}
	if code, out, stderr := do("down"); code != exitDone || out != "the control plane is stopped\n" {
		t.Errorf("down: code %d, stdout %q, stderr %q", code, out, stderr)
	}
	poll(t, "the run ends", func() bool { return !processRuns(pid) })
	if _, err := os.Stat(config); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig stays (%v)", err)
	}
	if code, out, stderr := do("down"); code != exitDone || out != "no control plane runs\n" {
		t.Errorf("second down: code %d, stdout %q, stderr %q", code, out, stderr)
	}
}

func TestKilledUpLeavesNothing(t *testing.T) {
	needBinaries(t)
	tmp, dir := shortTemp(t), t.TempDir()
	up := command(tmp, "up", "--collector=absent", "--state="+dir)
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	folders := func() []string {
		found, _ := filepath.Glob(filepath.Join(tmp, folderPrefix+"*"))
		return found
	}
	poll(t, "the run starts", func() bool { return len(folders()) > 0 })
	_ = up.Process.Kill()
	_ = up.Wait()
	poll(t, "the run ends", func() bool { return len(folders()) == 0 })
}

func TestFailedUpReportsReason(t *testing.T) {
	needBinaries(t)
	dir := t.TempDir()
	code, out, stderr := shell(t, shortTemp(t), "up", "--state="+dir, "--apiserver-flag=no-such-flag=1")
	if code != exitFailed || out != "" || !strings.Contains(stderr, "unknown flag: --no-such-flag") {
		t.Errorf("up: code %d, stdout %q, stderr %q", code, out, stderr)
	}
}

// If the check is broken, the test process itself receives the signal.
func TestDownSignalsNobodyElse(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ended, err := newFolder() // its marker has the ID of this process
	if err != nil {
		t.Fatal(err)
	}
	ended.lock.Close()
	dir := t.TempDir()
	if err := newKubeconfig("", nil, newUsers(), ended.proof()).write(filepath.Join(dir, kubeconfigFile)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := downCommand(t.Context(), []string{"--state=" + dir}, streams{out: &out, err: &out}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "no control plane runs\n" {
		t.Errorf("down says %q", got)
	}
}
