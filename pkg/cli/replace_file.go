package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// The modes of files that are written.
const (
	PrivateFile fs.FileMode = 0o600 // readable by its owner
	PublicFile  fs.FileMode = 0o644 // readable by everybody
)

// notReplaced are the types of files that are written to, not replaced: devices, pipes, and
// folders, where opening fails. It does not contain ModeIrregular, which Windows reports
// for files in the cloud or compressed ones.
const notReplaced = fs.ModeDir | fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket

// ReplaceFile writes a temporary file in the same folder and renames it, so that readers
// see the old content or the new one, even after a failure.
//
// On Windows the file has the permissions of its folder instead of mode, and a file that
// another program has open is not replaced.
func ReplaceFile(name string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	if info, statErr := os.Stat(name); statErr == nil && info.Mode()&notReplaced != 0 {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	// Not named after the file, whose name may have the maximum length.
	temporary, err := os.CreateTemp(filepath.Dir(name), "."+plugin.File()+"-*")
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			path.Op, path.Path = "create", name // the user does not know the temporary name
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
