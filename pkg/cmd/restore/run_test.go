package restore

import (
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

func TestCloseJournalReportsAnIncompleteJournal(t *testing.T) {
	for name, broken := range map[string]bool{"complete": false, "a line could not be written": true} {
		t.Run(name, func(t *testing.T) {
			folder, err := backup.Create(t.TempDir(), "one", backup.Header{Tool: "v0", Server: "https://here", Context: "dev", Command: "delete", Digest: "0123456789abcdef", Started: time.Now().UTC()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := folder.Close(); err != nil {
				t.Fatal(err)
			}
			saved, err := backup.Open(folder.Path())
			if err != nil {
				t.Fatal(err)
			}
			defer saved.Close()
			r := &restoreCommand{}
			if r.journal, err = saved.Journal(); err != nil {
				t.Fatal(err)
			}
			if broken { // a second Close fails
				if err := r.journal.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.closeJournal(); (err != nil) != broken {
				t.Errorf("got %v", err)
			}
			if err := r.closeJournal(); err != nil {
				t.Errorf("it is closed twice: %v", err)
			}
		})
	}
}
