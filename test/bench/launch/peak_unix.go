//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the peak resident memory of an ended process in bytes; 0 if it is unknown.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) // 32 bits on some systems
	}
	return int64(usage.Maxrss) * 1024 // 32 bits on some systems
}
