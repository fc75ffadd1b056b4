//go:build unix

// Command launch runs a program and writes to a file what it cost: the wall time and the CPU time
// in nanoseconds, and the peak memory in bytes.
//
//	launch FILE PROGRAM [ARGS...]
//
// On Linux the peak memory of a process is never less than the peak of the process that started
// it. launch imports next to nothing, so that it takes only a few MiB.
//
// It exits with the program's exit code, or with 125 if there is none.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const exitLost = 125

func main() {
	code, err := launch(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "launch:", err)
	}
	os.Exit(code)
}

// launch connects the standard streams, and forwards signals.
func launch(file, path string, args []string) (code int, err error) {
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return exitLost, fmt.Errorf("start %s: %w", path, err)
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // fails if it has ended
		}
	}()
	_ = cmd.Wait() // how it ended is in ProcessState
	wall, state := time.Since(begun), cmd.ProcessState
	peak := int64(state.SysUsage().(*syscall.Rusage).Maxrss) // 32 bits on some systems
	if runtime.GOOS != "darwin" {
		peak *= 1024
	}
	cost := fmt.Sprintln(int64(wall), int64(state.UserTime()+state.SystemTime()), peak)
	if err := os.WriteFile(file, []byte(cost), 0o600); err != nil {
		return exitLost, fmt.Errorf("write cost of %s: %w", path, err)
	}
	if state.ExitCode() < 0 {
		return exitLost, fmt.Errorf("%s: %s", path, state)
	}
	return state.ExitCode(), nil
}
