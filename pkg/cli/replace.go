package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Who may read a file that is written.
const (
	private fs.FileMode = 0o600 // its owner
	public  fs.FileMode = 0o644 // everybody
)

// replace writes a file under a temporary name beside it and renames it when it
// is whole, so that a failure leaves no half file, and who reads it meanwhile
// sees the old one or the new one.
func replace(name string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if info, statErr := os.Stat(name); statErr == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			path.Op, path.Path = "create", name // the user knows of no temporary name
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	if err := errors.Join(write(temporary), temporary.Chmod(mode), temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
