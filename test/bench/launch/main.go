package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const exitLost = 125

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: launch FILE PROGRAM [ARGS...]")
		os.Exit(exitLost)
	}
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
	err = cmd.Wait()
	wall := time.Since(begun)
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return exitLost, fmt.Errorf("wait for %s: %w", path, err)
	}
	state := cmd.ProcessState
	if code = state.ExitCode(); code < 0 {
		code, err = exitLost, fmt.Errorf("%s: %s", path, state)
	} else {
		err = nil
	}
	cpu := state.UserTime() + state.SystemTime()
	return code, errors.Join(err, write(file, int64(wall), int64(cpu), peak(state)))
}

// write writes numbers on one line: wall time and CPU in nanoseconds, peak memory in bytes.
func write(file string, figures ...int64) error {
	words := make([]string, len(figures))
	for i, n := range figures {
		words[i] = strconv.FormatInt(n, 10)
	}
	if err := os.WriteFile(file, []byte(strings.Join(words, " ")+"\n"), 0o600); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	return nil
}
