package backup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// WorldWritableError reports that another user may change a backup, and so choose what
// is recreated with the rights of the user who restores it.
type WorldWritableError struct{ Why string }

// Error does not name the file.
func (e *WorldWritableError) Error() string { return e.Why }

// openRegular opens a file that another user may have created: a link could point
// elsewhere, a pipe would block, and a writable file may have been changed. It checks
// the opened file, because the name may refer to another one a moment later.
func openRegular(root *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	errIrregular := errors.New("it is not a regular file")
	expected, err := root.Lstat(name)
	if err != nil {
		return nil, nil, withoutPath(err)
	}
	if !expected.Mode().IsRegular() {
		return nil, nil, errIrregular
	}
	file, err := root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, nil, withoutPath(err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = withoutPath(err)
	case !info.Mode().IsRegular() || !os.SameFile(expected, info): // replaced after Lstat
		err = errIrregular
	default:
		err = checkWorldWritable(info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

func fileSize(root *os.Root, name string) (int64, error) {
	file, info, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	return info.Size(), file.Close()
}

// checkFolder returns a WorldWritableError if others may write to the open folder.
func checkFolder(root *os.Root) error {
	info, err := root.Stat(".")
	if err != nil {
		return withoutPath(err)
	}
	return checkWorldWritable(info)
}

func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	file, info, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("it is longer than %d bytes", limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit))
	return data, withoutPath(err)
}

// readLines calls add for every valid line of a file, with the line number starting at 1 and its length.
// Lines that a kill or a power failure left incomplete go to b.Truncated.
func readLines[T interface{ validate() error }](b *Backup, name string, add func(n, length int, v T) error) error {
	file, _, err := openRegular(b.root, name, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer file.Close()

	complete := true // the last line ends with a line break
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine+2)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if !atEOF || len(data) == 0 {
			return 0, nil, nil
		}
		complete = false
		return len(data), data, nil
	})
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Bytes()
		if bytes.IndexByte(line, 0) >= 0 {
			// The length of a file can reach the disk before its contents. JSON contains no
			// zero bytes, and the hole contains no line break, so it is within one line.
			b.Truncated = append(b.Truncated, Truncated{name, n, "it contains zero bytes, as after a power failure"})
			continue
		}
		if !complete && !json.Valid(line) {
			b.Truncated = append(b.Truncated, Truncated{name, n, fmt.Sprintf("it is cut off after %d bytes", len(line))})
			continue
		}
		var v T
		if err := utiljson.Unmarshal(line, &v); err != nil {
			return fmt.Errorf("%s: malformed JSON: %w", position(name, n), err)
		}
		err := v.validate()
		if err == nil {
			err = add(n, len(line), v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", position(name, n), err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s: it is longer than %d bytes", position(name, n), maxLine)
	} else if err != nil {
		return fmt.Errorf("%s: %w", position(name, n), withoutPath(err))
	}
	return nil
}
