package main

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// thread starts processes, all from one OS thread that lives as long as this process. On Linux a
// child receives its parent-death signal when the thread that created it ends, and Go may end
// threads at any time.
type thread chan func()

func newThread() thread {
	t := make(thread)
	go func() {
		runtime.LockOSThread()
		for start := range t {
			start()
		}
	}()
	return t
}

// start starts cmd. If the kernel supports it, cmd is killed when this process ends, and a Ctrl-C
// in the terminal reaches only this process.
func (t thread) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attached()
	err := make(chan error)
	t <- func() { err <- cmd.Start() }
	return <-err
}

// run runs cmd to its end. If ctx ends first, cmd and its children are interrupted, and killed if
// they do not end.
func (t thread) run(ctx context.Context, cmd *exec.Cmd) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.start(cmd); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // fails if it has ended by itself
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	return ctx.Err()
}
