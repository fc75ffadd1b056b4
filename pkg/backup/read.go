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

// regular is for files that somebody else may have put there: a link would lead
// elsewhere, and a pipe would be waited for. What others may write they may have
// written.
func regular(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return info, exposed(info)
}

// readWhole reads a file that is written as a whole.
func readWhole(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := regular(root, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("it is longer than %d bytes", limit)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit))
	return data, cause(err)
}

// readLines reads a file that is written line by line, and counts from 1. Lines
// that a power cut or a kill left unfinished are answered, not added.
func readLines[T any](root *os.Root, name string, add func(n int, v T) error) (torn []Tear, err error) {
	if _, err := regular(root, name); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
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
			torn = append(torn, Tear{name, n, "it holds zeros, as a power cut leaves them"})
			continue
		}
		if !ended && !json.Valid(line) {
			torn = append(torn, Tear{name, n, fmt.Sprintf("it breaks off after %d bytes", len(line))})
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
