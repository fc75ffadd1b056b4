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
)

// ErrBusy says that another process is restoring the backup.
var ErrBusy = errors.New("another restoration of this backup is under way")

// Journal is where a restoration notes what it does, behind what earlier ones
// noted. It is safe for concurrent use.
type Journal struct {
	path string
	root *os.Root
	mu   sync.Mutex
	file *os.File
	err  error // the first that a line met: what follows half a line would be unreadable
}

// Journal opens restored.jsonl for this process alone, where the system can do
// that; ErrBusy says that another has it. Half a line at its end, which a kill
// left, goes.
func (b *Backup) Journal() (*Journal, error) {
	path := filepath.Join(b.path, restoredFile)
	file, err := b.openRestored()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, cause(err))
	}
	if err = lock(file); err == nil {
		err = mendEnd(file)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, errors.Join(cause(err), file.Close()))
	}
	return &Journal{path: path, root: b.root, file: file}, nil
}

func (b *Backup) openRestored() (*os.File, error) {
	const write = os.O_RDWR | os.O_APPEND
	file, _, err := openRegular(b.root, restoredFile, write)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = b.root.OpenFile(restoredFile, write|os.O_CREATE|os.O_EXCL, ownerOnlyFile)
		if errors.Is(err, fs.ErrExist) { // another process was faster, and has it
			file, _, err = openRegular(b.root, restoredFile, write)
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

// mendEnd has a file end with a line break. A last line that is whole stays.
func mendEnd(file *os.File) error {
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	switch rest := data[whole:]; {
	case len(rest) == 0:
		return nil
	case json.Valid(rest):
		_, err = file.Write([]byte{'\n'})
		return err
	}
	return file.Truncate(int64(whole))
}

// Note writes a line. It is with the system when Note returns, so that a kill does
// not lose it; it is durable after Close. Once a line could not be written nothing
// more is noted, and Note answers the same error.
func (j *Journal) Note(r Restored) error {
	line, err := lineOf(r)
	if err != nil {
		return fmt.Errorf("note what was restored in %s: %w", j.path, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if _, err := j.file.Write(line); err != nil {
		j.err = fmt.Errorf("note what was restored in %s: %w", j.path, cause(err))
	}
	return j.err
}

// Close makes durable what was noted, and lets others restore the backup. Where
// nothing was ever noted, no file stays. It answers an error that Note answered
// before, too. It comes before the Close of the Backup.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := errors.Join(j.err, j.file.Sync())
	if info, failed := j.file.Stat(); failed == nil && info.Size() == 0 {
		err = errors.Join(err, j.root.Remove(restoredFile))
	}
	err = errors.Join(err, j.file.Close())
	j.err = fmt.Errorf("note what was restored in %s: %w", j.path, os.ErrClosed)
	return err
}
