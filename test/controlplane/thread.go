package main

import (
	"os/exec"
	"runtime"
)

// starts has processes to start, all from one OS thread that lives as long as this process. On
// Linux a child receives its parent-death signal when the thread that created it ends, and Go may
// end threads at any time.
var starts = startThread()

func startThread() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range c {
			start()
		}
	}()
	return c
}

// startAttached starts cmd. If the kernel supports it, cmd is killed when this process ends, and a
// Ctrl-C in the terminal reaches only this process.
func startAttached(cmd *exec.Cmd) error {
	cmd.SysProcAttr = attached()
	err := make(chan error)
	starts <- func() { err <- cmd.Start() }
	return <-err
}
