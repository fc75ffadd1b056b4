package backup

import (
	"errors"
	"os"
)

// WorldWritableError reports that another user may change a backup, and so choose what
// is recreated with the rights of the user who restores it.
type WorldWritableError struct{ Why string }

// Error does not name the file.
func (e *WorldWritableError) Error() string { return e.Why }

// openRegular opens a file that another user may have created: a link could point
// elsewhere, a pipe would block, and a writable file may have been changed. It checks
// the opened file, because the name may refer to another one a moment later.
func openRegular(root *os.Root, name string, flag int) (*os.File, error) {
	errIrregular := errors.New("it is not a regular file")
	expected, err := root.Lstat(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !expected.Mode().IsRegular() {
		return nil, errIrregular
	}
	file, err := root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular() || !os.SameFile(expected, info): // replaced after Lstat
		err = errIrregular
	default:
		err = checkWorldWritable(info)
	}
	if err != nil {
		return nil, errors.Join(withoutPath(err), file.Close())
	}
	return file, nil
}

// checkFolder returns a WorldWritableError if others may write to the open folder.
func checkFolder(root *os.Root) error {
	info, err := root.Stat(".")
	if err == nil {
		err = checkWorldWritable(info)
	}
	return withoutPath(err)
}
