package main

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// thread starts processes, all from one OS thread that lives as long as this process.
// On Linux a child is told of its parent's death when the thread that created it ends,
// and Go ends threads as it likes.
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

// start starts cmd so that it dies with us where the kernel can see to that, and so
// that a Ctrl-C in our terminal reaches only us.
func (t thread) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attached()
	err := make(chan error)
	t <- func() { err <- cmd.Start() }
	return <-err
}

// run runs cmd to its end. When ctx ends first, cmd and whatever it started are
// interrupted, in the end killed.
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
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // it may have ended by itself
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	return ctx.Err()
}
