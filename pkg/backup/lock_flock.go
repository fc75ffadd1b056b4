//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file until this process closes it or ends.
func lock(file *os.File) error { return flock(file, syscall.LOCK_EX) }

// lockShared is lock for one of several readers.
func lockShared(file *os.File) error { return flock(file, syscall.LOCK_SH) }

func flock(file *os.File, how int) error {
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrBusy
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return nil // some network file systems
	}
	return err
}
