package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestIdentity(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if !id.runs() {
		t.Fatal("it doesn't run")
	}
	if err := id.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The process is a zombie: its PID still exists.
	if err := awaitGone(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if id.runs() {
		t.Error("it runs after its end")
	}
	if err := id.signal(syscall.SIGKILL); err != nil {
		t.Errorf("signal what is gone: %v", err)
	}
}

// If the check is broken, the test process itself receives the signal.
func TestRecycledPIDIsNotSignalled(t *testing.T) {
	recycled := identity{PID: os.Getpid(), Start: "long ago"}
	if recycled.runs() {
		t.Error("another process passes for the one that had the pid")
	}
	if err := recycled.signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	for _, none := range []identity{{}, {PID: -1, Start: "x"}} {
		if none.runs() {
			t.Errorf("%+v runs", none)
		}
		if err := none.signal(syscall.SIGKILL); err != nil {
			t.Errorf("%+v: %v", none, err)
		}
	}
}
