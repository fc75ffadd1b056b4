package cli

import (
	"fmt"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// journalFailure keeps the first error because of which a run could not record what it did.
// It is safe for concurrent use.
type journalFailure struct {
	mu  sync.Mutex
	err error
}

// Record keeps an error and reports whether it is the first.
func (u *journalFailure) Record(err error) (first bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	first = u.err == nil
	if first {
		u.err = err
	}
	return first
}

// Err returns the first error, or nil.
func (u *journalFailure) Err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// RecordFailure has the run begin no further step, and says so once: whoever restores its
// backup, or runs a restoration again, relies on the record.
func (a *Operation) RecordFailure(err error) {
	if a.JournalFailure.Record(err) {
		a.Progress.Note(fmt.Sprintf("error: %s: no further step is started\n", escape.Short(err.Error(), 2000)))
	}
}
