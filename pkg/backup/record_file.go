package backup

import (
	"fmt"
	"os"
	"sync"
)

// recordFile appends lines to a file, in the order in which they are added. Once something could not be written,
// nothing more is written, and every call returns the same error: what follows half a line would be unreadable.
type recordFile struct {
	mu      sync.Mutex
	file    *diskFile
	pending []byte // lines that are added and not yet written
	written int64  // bytes
	err     error  // of the first failed write
}

// add adds lines. It writes all that are pending as soon as these have so many bytes. The operating system has what
// is written, so a kill does not lose it.
func (r *recordFile) add(lines []byte, enough int) error {
	return r.unlessFailed(func() error {
		r.pending = append(r.pending, lines...)
		if len(r.pending) < enough {
			return nil
		}
		return r.write()
	})
}

// addNow adds a record and writes it.
func (r *recordFile) addNow(one record) error {
	line, err := encode(one)
	if err != nil {
		return r.failure(err)
	}
	return r.add(line, 0)
}

// write writes the pending lines. It is called in unlessFailed.
func (r *recordFile) write() error {
	if len(r.pending) == 0 {
		return nil
	}
	n, err := r.file.Write(r.pending)
	r.pending, r.written = nil, r.written+int64(n)
	return err
}

// sync makes all lines durable. It is called in unlessFailed.
func (r *recordFile) sync() error {
	if err := r.write(); err != nil {
		return err
	}
	return r.file.Sync()
}

// close closes the file. Every later call returns an error.
func (r *recordFile) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = r.failure(os.ErrClosed)
	return r.file.Close()
}

// unlessFailed calls change, one call at a time, unless an earlier one failed. It returns the first error.
func (r *recordFile) unlessFailed(change func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		if err := change(); err != nil {
			r.err = r.failure(err)
		}
	}
	return r.err
}

func (r *recordFile) failure(err error) error {
	return fmt.Errorf("write %s: %w", r.file.path, withoutPath(err))
}
