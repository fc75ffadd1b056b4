//go:build !linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// startOf returns the second at which a process started.
func startOf(pid int) (string, error) {
	ps := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid))
	ps.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	out, err := ps.Output()
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 || strings.HasPrefix(fields[0], "Z") {
		return "", errors.New("it is dead")
	}
	return strings.Join(fields[1:], " "), nil
}
