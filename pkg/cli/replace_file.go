package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
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
	if runtime.GOOS == "windows" {
		if err := checkWindowsPath(name); err != nil {
			return err
		}
	}
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

// moreWindowsDevices are those that backup.IsWindowsDevice ignores.
var moreWindowsDevices = []string{"conin$", "conout$", "com¹", "com²", "com³", "lpt¹", "lpt²", "lpt³"}

// checkWindowsPath returns why Windows would not create a file with the name in a path,
// or nil. A path that is only a device is accepted, like /dev/null. Folders are not
// checked, because they exist or Windows reports that they do not.
func checkWindowsPath(path string) error {
	if slashed := strings.ReplaceAll(path, "/", `\`); strings.HasPrefix(slashed, `\\?\`) || strings.HasPrefix(slashed, `\\.\`) {
		return nil // Windows does not interpret it
	}
	name := windowsBase(path)
	stem, _, hasExtension := strings.Cut(name, ".")
	stem = strings.TrimRight(stem, " ")
	switch {
	case name == "" || name == "." || name == "..":
		return nil
	case isWindowsDevice(strings.TrimSuffix(name, ":")):
		return nil
	case strings.Contains(name, ":"):
		return fmt.Errorf("%q contains a colon: Windows would write to a hidden stream of the file", name)
	case isWindowsDevice(stem) && hasExtension:
		return fmt.Errorf("%q is the device %s on Windows, whatever its extension", name, strings.ToUpper(stem))
	case strings.TrimRight(name, ". ") != name:
		return fmt.Errorf("%q ends with a dot or a space, which Windows removes", name)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>"|?*`, r) }); i >= 0 {
		return fmt.Errorf("%q contains %q, which Windows does not allow in a file name", name, name[i])
	}
	return nil
}

func isWindowsDevice(name string) bool {
	return backup.IsWindowsDevice(name) || slices.Contains(moreWindowsDevices, strings.ToLower(name))
}

// windowsBase returns the last element of a path, without a drive.
func windowsBase(path string) string {
	if len(path) > 1 && path[1] == ':' && 'a' <= path[0]|0x20 && path[0]|0x20 <= 'z' {
		path = path[2:] // C:\x, and C:x, which is relative to the current folder of the drive
	}
	return path[strings.LastIndexAny(path, `\/`)+1:]
}
