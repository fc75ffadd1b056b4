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
	if err := d.carryOut(Change{Op: MakeFolder, Path: path}, func() error { return os.MkdirAll(path, dirMode) }); err != nil {
		return fmt.Errorf("make folder %s: %w", path, withoutPath(err))
	}
	for _, dir := range parents {
		if err := d.syncDir(dir, func() (*os.File, error) { return os.Open(dir) }); err != nil {
			return err
		}
	}
	return nil
}

// syncRoot makes the file names in an open folder durable, whatever its path is now.
func (d Disk) syncRoot(root *os.Root) error {
	return d.syncDir(root.Name(), func() (*os.File, error) { return root.Open(".") })
}

// syncDir makes the file names in a folder durable. Windows and some network file
// systems cannot sync a folder.
func (d Disk) syncDir(path string, open func() (*os.File, error)) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := open()
	if err != nil {
		return fmt.Errorf("sync folder %s: %w", path, withoutPath(err))
	}
	err = d.carryOut(Change{Op: SyncFolder, Path: path}, dir.Sync)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	if err := errors.Join(err, dir.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", path, withoutPath(err))
	}
	return nil
}

// tempSuffix marks a file that is not complete yet.
const tempSuffix = ".tmp"

// replaceFile writes a file atomically and durably.
func (f *Folder) replaceFile(name string, data []byte) error {
	file, err := f.disk.create(f.root, name+tempSuffix, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return f.fileError("write", name, err)
	}
	if err = writeSyncClose(file, data); err == nil {
		err = f.disk.carryOut(Change{Op: Rename, Path: file.path, To: filepath.Join(f.path, name)}, func() error { return f.root.Rename(name+tempSuffix, name) })
	}
	if err != nil {
		return f.fileError("write", name, errors.Join(withoutPath(err), f.disk.remove(f.root, name+tempSuffix)))
	}
	return f.disk.syncRoot(f.root)
}

func writeSyncClose(file *diskFile, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return withoutPath(err)
}

// fileError says what failed on which file of the folder.
func (f *Folder) fileError(doing, name string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, filepath.Join(f.path, name), withoutPath(err))
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
