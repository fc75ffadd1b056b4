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
)

// ErrBusy reports that another process is restoring the backup.
var ErrBusy = errors.New("another restoration of this backup is under way")

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
	return &Journal{b.root, recordFile{path: path, doing: "record what was restored in", file: file}}, nil
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
	if err := syncRoot(b.root); err != nil {
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
func (j *Journal) Add(r Restored) error { return j.records.add(r) }

// Close makes the lines durable and unlocks the file. It removes an empty file. It
// returns the error of an earlier write, too. Call it before Backup.Close.
func (j *Journal) Close() error {
	r := &j.records
	r.mu.Lock()
	defer r.mu.Unlock()
	err := errors.Join(r.err, r.file.Sync())
	if info, failed := r.file.Stat(); failed == nil && info.Size() == 0 {
		err = errors.Join(err, j.root.Remove(restoredFile))
	}
	err = errors.Join(err, r.file.Close())
	r.err = r.failure(r.doing, os.ErrClosed)
	return err
}
