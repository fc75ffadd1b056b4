package backup_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// TestCreateSyncsInOrder lists its changes. A power loss may lose any that were not synced, so the header
// is synced before the names that lead to it.
func TestCreateSyncsInOrder(t *testing.T) {
	top := t.TempDir()
	var changes []string
	f, err := backup.Create(filepath.Join(top, "backups"), "run", header, func(c backup.DiskChange, do func() error) error {
		changes = append(changes, string(c.Op)+" "+strings.TrimPrefix(filepath.ToSlash(c.Path), filepath.ToSlash(top)))
		return do()
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"make folder /backups", "sync folder ",
		"make folder /backups/run", "create file /backups/run/records.jsonl", "write /backups/run/records.jsonl",
		"sync file /backups/run/records.jsonl", "sync folder /backups/run", "sync folder /backups",
	}
	if diff := cmp.Diff(want, changes); diff != "" && runtime.GOOS != "windows" { // which syncs no folder
		t.Error(diff)
	}
	closeFolder(t, f)
}

func TestCreateLeavesNothingWhenAChangeFails(t *testing.T) {
	for n := 1; ; n++ {
		root, made, failed := t.TempDir(), 0, backup.DiskChange{}
		f, err := backup.Create(root, run, header, func(c backup.DiskChange, do func() error) error {
			if made++; made == n {
				failed = c
				return syscall.ENOSPC
			}
			return do()
		})
		if err == nil {
			_ = f.Close() // its sync is the change that fails
			return
		}
		if left := names(t, root); !errors.Is(err, syscall.ENOSPC) || len(left) > 0 || !strings.HasPrefix(err.Error(), "make backup folder") {
			t.Errorf("%s %s fails: %v leaves %v", failed.Op, failed.Path, err, left)
		}
	}
}
