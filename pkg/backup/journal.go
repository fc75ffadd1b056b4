package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

// ErrBusy reports that another process is restoring the backup.
var ErrBusy = errors.New("another restore of this backup is running")

// Journal appends what a restoration does to restored.jsonl. It is safe for
// concurrent use.
type Journal struct{ records recordFile }

// Journal opens restored.jsonl and, if the system supports it, locks it; ErrBusy means
// that another process holds the lock. It removes what a kill left incomplete at the end.
func (b *Backup) Journal() (*Journal, error) {
	path := filepath.Join(b.path, restoredFile)
	file, err := b.openJournal()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, withoutPath(err))
	}
	return &Journal{recordFile{file: &diskFile{File: file, path: path}}}, nil
}

func (b *Backup) openJournal() (*os.File, error) {
	const flags = os.O_RDWR | os.O_APPEND
	file, err := b.root.OpenFile(restoredFile, flags|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		file, err = openRegular(b.root, restoredFile, flags)
	}
	if err != nil {
		return nil, err
	}
	if err = lock(file, false); err == nil {
		var end int64
		if end, _, err = readRecords(file, func(*record, int64) error { return nil }); err == nil {
			err = file.Truncate(end)
		}
	}
	if err == nil {
		err = Disk(nil).syncRoot(b.root)
	}
	if err != nil {
		return nil, errors.Join(withoutPath(err), file.Close())
	}
	return file, nil
}

// Add appends a line. The operating system has it when the method returns, so a kill
// does not lose it; it is durable after Close. Once a line could not be written, nothing
// more is written, and every call returns the same error.
func (j *Journal) Add(r event.Record) error { return j.records.addNow(record{Result: &r}) }

// Close makes the lines durable and unlocks the file. It returns the error of an earlier write, too.
func (j *Journal) Close() error {
	return errors.Join(j.records.unlessFailed(j.records.sync), j.records.close())
}
