//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the most memory that an ended process had resident, in bytes. On Linux a process
// inherits the peak of the one that started it, ours.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return resident(usage)
}

// ownPeak is ours so far.
func ownPeak() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return resident(&usage)
}

func resident(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) // 32 bits on some systems
	}
	return int64(usage.Maxrss) * 1024 // 32 bits on some systems
}
