package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// ErrBusy reports that another process is restoring the backup.
var ErrBusy = errors.New("another restore of this backup is running")

// Journal appends what a restoration does to restored.jsonl. It is safe for
// concurrent use.
type Journal struct {
	root    *os.Root
	records recordFile
}

// Journal opens restored.jsonl and, if the system supports it, locks it; ErrBusy means
// that another process holds the lock. It removes half a line at the end, which a kill
// leaves.
func (b *Backup) Journal() (*Journal, error) {
	path := filepath.Join(b.path, restoredFile)
	file, err := b.openRestored()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, withoutPath(err))
	}
	if err = lock(file); err == nil {
		err = repairTail(file)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, errors.Join(withoutPath(err), file.Close()))
	}
	return &Journal{b.root, recordFile{path: path, doing: "record what was restored in", file: &diskFile{File: file, path: path}}}, nil
}

func (b *Backup) openRestored() (*os.File, error) {
	const flags = os.O_RDWR | os.O_APPEND
	file, _, err := openRegular(b.root, restoredFile, flags)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = b.root.OpenFile(restoredFile, flags|os.O_CREATE|os.O_EXCL, fileMode)
		if errors.Is(err, fs.ErrExist) { // another process has just created it
			file, _, err = openRegular(b.root, restoredFile, flags)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := Disk(nil).syncRoot(b.root); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// repairTail makes a file end with a line break. A complete last line stays.
func repairTail(file *os.File) error {
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	switch tail := data[end:]; {
	case len(tail) == 0:
		return nil
	case json.Valid(tail):
		_, err = file.Write([]byte{'\n'})
		return err
	}
	return file.Truncate(int64(end))
}

// Add appends a line. The operating system has it when the method returns, so a kill
// does not lose it; it is durable after Close. Once a line could not be written, nothing
// more is written, and every call returns the same error.
func (j *Journal) Add(r event.Record) error { return j.records.add(r, validateRestored) }

// Close makes the lines durable and unlocks the file. It removes an empty file. It
// returns the error of an earlier write, too. Call it before Backup.Close.
func (j *Journal) Close() error {
	err := j.records.sync()
	if info, failed := j.records.file.Stat(); failed == nil && info.Size() == 0 {
		err = errors.Join(err, j.root.Remove(restoredFile))
	}
	return errors.Join(err, j.records.close())
}

// recordFile appends records to a file, one a line. Once a line could not be written,
// nothing more is written, and every call returns the same error: what follows half a
// line would be unreadable.
type recordFile struct {
	path  string
	doing string // for errors

	mu   sync.Mutex
	file *diskFile
	err  error // of the first failed write
}

// add appends a record that Open accepts. The operating system has the line when the
// method returns, so a kill does not lose it.
func (r *recordFile) add(record event.Record, validate func(event.Record) error) error {
	line, err := encodeLine(record, validate)
	if err != nil {
		return r.failure(r.doing, err)
	}
	return r.unlessFailed(func() error {
		_, err := r.file.Write(line)
		return err
	})
}

// sync makes the records durable.
func (r *recordFile) sync() error { return r.unlessFailed(func() error { return r.file.Sync() }) }

// close closes the file, if there is one. Every later call returns an error.
func (r *recordFile) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	r.err = r.failure(r.doing, os.ErrClosed)
	return r.file.Close()
}

// unlessFailed calls write, one call at a time, unless an earlier one failed. It returns the first error.
func (r *recordFile) unlessFailed(write func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		if err := write(); err != nil {
			r.err = r.failure(r.doing, err)
		}
	}
	return r.err
}

func (r *recordFile) failure(doing string, err error) error {
	return fmt.Errorf("%s %s: %w", doing, r.path, withoutPath(err))
}

// encodeLine encodes a record as a line that Open accepts. It escapes characters that control a
// terminal or hide text, because people read these files.
func encodeLine[T any](record T, validate func(T) error) ([]byte, error) {
	line, err := json.Marshal(record)
	line = escape.JSON(line)
	switch {
	case err != nil:
		return nil, err
	case len(line) > maxLine:
		return nil, fmt.Errorf("%d bytes exceed the limit of %d", len(line), maxLine)
	}
	return append(line, '\n'), validate(record)
}
