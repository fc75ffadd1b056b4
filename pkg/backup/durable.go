package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// mkdirAll creates a folder and its missing parents durably.
func (d Disk) mkdirAll(path string) error {
	var parents []string
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		parents = append(parents, filepath.Dir(dir))
	}
	if err := d.carryOut(DiskChange{Op: MakeFolder, Path: path}, func() error { return os.MkdirAll(path, dirMode) }); err != nil {
		return fmt.Errorf("make folder %s: %w", path, withoutPath(err))
	}
	for _, dir := range parents {
		if err := d.syncDir(os.Open(dir)); err != nil {
			return err
		}
	}
	return nil
}

// syncRoot makes the file names in an open folder durable, whatever its path is now.
func (d Disk) syncRoot(root *os.Root) error { return d.syncDir(root.Open(".")) }

// syncDir makes the file names in an opened folder durable, and closes it. Windows and some network file systems cannot
// sync a folder.
func (d Disk) syncDir(dir *os.File, err error) error {
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer dir.Close() // nothing is written to it
	if runtime.GOOS == "windows" {
		return nil
	}
	path := filepath.Clean(dir.Name())
	err = d.carryOut(DiskChange{Op: SyncFolder, Path: path}, dir.Sync)
	if err == nil || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return fmt.Errorf("sync folder %s: %w", path, withoutPath(err))
}

// withoutPath removes the path and the system call from an error, for callers that
// name both in their own message. An error that wraps such an error stays as it is.
func withoutPath(err error) error {
	switch e := any(err).(type) { // errors.As would also find a wrapped one
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}
