//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file until this process closes it or ends. Several may share a lock.
func lock(file *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return nil // some network file systems
	}
	return err
}
