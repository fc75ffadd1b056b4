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

// line is where a line is in its file.
type line struct {
	number int   // starting at 1; manifests are not counted
	length int   // in bytes, without the line break
	end    int64 // where the next line begins
	size   int64 // of the file
}

// readLines calls add for every valid line of a file, except for as many bytes after the line as add returns.
// Lines that a kill or a power failure left incomplete go to b.Truncated.
func readLines[T any](b *Backup, name string, validate func(T) error, add func(line, T) (skip int64, err error)) error {
	file, info, err := openRegular(b.root, name, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer file.Close()

	at := line{size: info.Size()}
	skip := int64(0)
	complete := true // the last line ends with a line break
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine+2)
	lines.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		skipped := int(min(skip, int64(len(data))))
		skip -= int64(skipped)
		defer func() { at.end += int64(advance) }()
		data = data[skipped:] // at the end of the file, the scanner does not call again after a mere skip
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return skipped + i + 1, data[:i], nil
		}
		if !atEOF || len(data) == 0 {
			return skipped, nil, nil
		}
		complete = false
		return skipped + len(data), data, nil
	})
	for at.number = 1; lines.Scan(); at.number++ {
		text := lines.Bytes()
		at.length = len(text)
		if bytes.IndexByte(text, 0) >= 0 {
			// The length of a file can reach the disk before its contents. JSON contains no
			// zero bytes, and the hole contains no line break, so it is within one line.
			b.Truncated = append(b.Truncated, Truncated{name, at.number, "it contains zero bytes, as after a power failure"})
			if name == objectsFile { // whether the next line is a manifest is unknown
				break
			}
			continue
		}
		if !complete && !json.Valid(text) {
			b.Truncated = append(b.Truncated, Truncated{name, at.number, fmt.Sprintf("it is cut off after %d bytes", len(text))})
			continue
		}
		var v T
		if err := utiljson.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%s: malformed JSON: %w", position(name, at.number), err)
		}
		err := validate(v)
		if err == nil {
			skip, err = add(at, v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", position(name, at.number), err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s: it is longer than %d bytes", position(name, at.number), maxLine)
	} else if err != nil {
		return fmt.Errorf("%s: %w", position(name, at.number), withoutPath(err))
	}
	return nil
}
