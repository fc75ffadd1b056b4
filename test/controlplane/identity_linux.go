package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// startOf returns the boot ID and the clock tick at which a process started.
func startOf(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The second field is the name, which may contain anything, including spaces and parentheses.
	// The third is the state, and the twenty-second the start time (proc_pid_stat(5)).
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) < 20 {
		return "", fmt.Errorf("unexpected stat %q", stat)
	}
	if state := fields[0][0]; state == 'Z' || state == 'X' {
		return "", errors.New("it is dead")
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%s", bytes.TrimSpace(boot), fields[19]), nil
}
