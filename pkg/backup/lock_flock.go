//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file until this process closes it or ends.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return nil // some network file systems
	}
	return err
}
