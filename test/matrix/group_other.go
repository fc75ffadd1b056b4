//go:build !unix

package main

import "os/exec"

// interruptGroup does nothing: control planes do not run on this system.
func interruptGroup(*exec.Cmd) {}
