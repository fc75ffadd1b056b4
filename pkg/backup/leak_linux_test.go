package backup_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// descriptors returns the number of open files of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

func TestEveryFileIsClosed(t *testing.T) {
	damaged := finishedRun(t)
	write(t, filepath.Join(damaged, "records.jsonl"), "no JSON\n")
	path := finishedRun(t)
	for name, use := range map[string]func(t *testing.T){
		"a backup that is written":                func(t *testing.T) { finishedRun(t) },
		"one that cannot be made":                 func(t *testing.T) { _, _ = backup.Create(filepath.Join(path, "records.jsonl"), run, header, nil) },
		"one that is read":                        func(t *testing.T) { useAndClose(t, path, func(b *backup.Backup) { saved(t, b) }) },
		"one that is damaged":                     func(t *testing.T) { _, _ = backup.Open(damaged) },
		"one that is not there":                   func(t *testing.T) { _, _ = backup.Open(filepath.Join(path, "no")) },
		"a journal":                               func(t *testing.T) { appendJournal(t, path, restored("a", "1")) },
		"a journal that another process has open": func(t *testing.T) { useAndClose(t, path, func(b *backup.Backup) { openJournalTwice(t, b) }) },
	} {
		t.Run(name, func(t *testing.T) {
			before := descriptors(t)
			use(t)
			if after := descriptors(t); after != before {
				t.Errorf("%d files are open, %d were before", after, before)
			}
		})
	}
}

func useAndClose(t *testing.T, path string, use func(*backup.Backup)) {
	t.Helper()
	b := open(t, path)
	use(b)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// openJournalTwice opens the journal of a backup twice, the second time without success.
func openJournalTwice(t *testing.T, b *backup.Backup) {
	t.Helper()
	j, err := b.Journal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Journal(); err == nil {
		t.Error("the second Journal succeeds")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
