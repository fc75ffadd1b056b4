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

// openRegular opens a file that somebody else may have put there: a link would lead
// elsewhere, and a pipe would be waited for. What others may write they may have
// written. All of this is checked on what was opened, not on a name that may mean
// something else a moment later.
func openRegular(root *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	errIrregular := errors.New("it is not a regular file")
	named, err := root.Lstat(name)
	if err != nil {
		return nil, nil, cause(err)
	}
	if !named.Mode().IsRegular() {
		return nil, nil, errIrregular
	}
	file, err := root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, nil, cause(err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = cause(err)
	case !info.Mode().IsRegular() || !os.SameFile(named, info): // a link took its place
		err = errIrregular
	default:
		err = exposed(info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// sizeOf returns the size of a file that openRegular opens.
func sizeOf(root *os.Root, name string) (int64, error) {
	file, info, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	return info.Size(), file.Close()
}

// checkFolder returns an *Exposed where others may write to the folder that was opened.
func checkFolder(root *os.Root) error {
	info, err := root.Stat(".")
	if err != nil {
		return cause(err)
	}
	return exposed(info)
}

// readWhole reads a file that is written as a whole.
func readWhole(root *os.Root, name string, limit int64) ([]byte, error) {
	file, info, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("it is longer than %d bytes", limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit))
	return data, cause(err)
}

// readLines reads a file that is written line by line, and counts from 1. Lines
// that a power cut or a kill left unfinished are answered, not added.
func readLines[T any](root *os.Root, name string, add func(n int, v T) error) (torn []Truncated, err error) {
	file, _, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer file.Close()

	ended := true
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, limit+2)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if !atEOF || len(data) == 0 {
			return 0, nil, nil
		}
		ended = false
		return len(data), data, nil
	})
	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Bytes()
		if bytes.IndexByte(line, 0) >= 0 {
			// The length of a file can reach the disk before what is in it, and JSON
			// has no zeros. A hole holds no line break, so it is always in one line.
			torn = append(torn, Truncated{name, n, "it holds zeros, as a power cut leaves them"})
			continue
		}
		if !ended && !json.Valid(line) {
			torn = append(torn, Truncated{name, n, fmt.Sprintf("it breaks off after %d bytes", len(line))})
			continue
		}
		var v T
		if err := utiljson.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("%s: malformed JSON: %w", where(name, n), err)
		}
		if err := add(n, v); err != nil {
			return nil, fmt.Errorf("%s: %w", where(name, n), err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s: it is longer than %d bytes", where(name, n), limit)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", where(name, n), cause(err))
	}
	return torn, nil
}
