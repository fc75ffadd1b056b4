package backup

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// recordFile appends records to a file, one a line. Once a line could not be written,
// nothing more is written, and every call returns the same error: what follows half a
// line would be unreadable.
type recordFile struct {
	path  string
	doing string // for errors

	mu   sync.Mutex
	file *os.File
	err  error // of the first failed write
}

// add appends a record that Open accepts. The operating system has the line when the
// method returns, so a kill does not lose it.
func (r *recordFile) add(record interface{ validate() error }) error {
	line, err := encodeLine(record)
	if err != nil {
		return r.failure(r.doing, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if _, err := r.file.Write(line); err != nil {
		r.err = r.failure(r.doing, err)
	}
	return r.err
}

// sync makes the records durable.
func (r *recordFile) sync() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if err := r.file.Sync(); err != nil {
		r.err = r.failure("sync", err)
	}
	return r.err
}

func (r *recordFile) failure(doing string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, r.path, withoutPath(err))
}

// encodeLine encodes a record as a line that Open accepts.
func encodeLine(record interface{ validate() error }) ([]byte, error) {
	line, err := encode(record)
	switch {
	case err != nil:
		return nil, err
	case len(line) > maxLine:
		return nil, fmt.Errorf("%d bytes exceed the limit of %d", len(line), maxLine)
	}
	return append(line, '\n'), record.validate()
}

// encode is json.Marshal that also escapes every character which controls a terminal
// or hides text, because people read these files.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	return escape.JSON(data), err
}
