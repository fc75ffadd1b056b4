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
	ownerOnlyFolder = 0o700
	ownerOnlyFile   = 0o600
)

// makeAll makes a folder and those above it, and has their names on the disk
// when it returns.
func makeAll(path string) error {
	var above []string
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		above = append(above, filepath.Dir(dir))
	}
	if err := os.MkdirAll(path, ownerOnlyFolder); err != nil {
		return fmt.Errorf("make folder %s: %w", path, cause(err))
	}
	for _, dir := range above {
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder has the names in a folder on the disk when it returns. Windows and
// some network file systems have no such request; they order names by themselves.
func syncFolder(path string) error {
	return syncNames(path, func() (*os.File, error) { return os.Open(path) })
}

// syncRoot is syncFolder of the folder that is open, wherever it is called by now.
func syncRoot(root *os.Root) error {
	return syncNames(root.Name(), func() (*os.File, error) { return root.Open(".") })
}

func syncNames(path string, open func() (*os.File, error)) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := open()
	if err != nil {
		return fmt.Errorf("sync folder %s: %w", path, cause(err))
	}
	err = dir.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	if err := errors.Join(err, dir.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", path, cause(err))
	}
	return nil
}

// temporary ends the name of a file that is not whole yet.
const temporary = ".tmp"

// replace writes a file as a whole or not at all, durably.
func (f *Folder) replace(name string, data []byte) error {
	file, err := f.root.OpenFile(name+temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, ownerOnlyFile)
	if err != nil {
		return f.failed("write", name, err)
	}
	if err = finish(file, data); err == nil {
		err = f.root.Rename(name+temporary, name)
	}
	if err != nil {
		return f.failed("write", name, errors.Join(cause(err), f.root.Remove(name+temporary)))
	}
	return syncRoot(f.root)
}

// finish writes to a file, has that on the disk and closes the file.
func finish(file *os.File, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return cause(err)
}

// failed says what was tried on which file of the folder.
func (f *Folder) failed(doing, name string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, filepath.Join(f.path, name), cause(err))
}

// cause leaves out of an error the path and the call, where the caller says both
// in words that the user knows. What wraps such an error says more, and stays.
func cause(err error) error {
	switch e := any(err).(type) { // errors.As would also find it inside of another error
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}
