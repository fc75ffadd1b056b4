//go:build !linux

package main

import "syscall"

func attached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
