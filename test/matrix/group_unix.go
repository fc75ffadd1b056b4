//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// interruptGroup makes the end of the command's context interrupt its children as well. An
// interrupted go test alone would wait for the end of the tests.
func interruptGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}
