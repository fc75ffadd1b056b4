package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/filename"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// Who may read a file that is written.
const (
	PrivateFile fs.FileMode = 0o600 // its owner
	PublicFile  fs.FileMode = 0o644 // everybody
)

// lasting is what stays, and is written into: a device or a pipe; a folder, which says
// that it is none. A file that is irregular, as Windows calls those that are kept
// elsewhere or in a short form, is replaced as any other.
const lasting = fs.ModeDir | fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket

// ReplaceFile writes a file under a temporary name beside it and renames it when it
// is whole, so that a failure leaves no half file, and who reads it meanwhile
// sees the old one or the new one.
//
// On Windows the file has the rights of its folder, whatever the mode says, and a file
// that another program has open is not replaced.
func ReplaceFile(name string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if runtime.GOOS == "windows" {
		if err := filename.Windows(name); err != nil {
			return err
		}
	}
	if info, statErr := os.Stat(name); statErr == nil && info.Mode()&lasting != 0 {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	// Not called after the file, whose name may be as long as any can be.
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+plugin.File()+"-*")
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
	err = os.Rename(temporary.Name(), name)
	var link *os.LinkError
	if errors.As(err, &link) {
		err = &fs.PathError{Op: "replace", Path: name, Err: link.Err}
	}
	return err
}
