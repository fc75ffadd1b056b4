//go:build unix

package backup_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

func TestOpenRejectsBackupWritableByOthers(t *testing.T) {
	change := func(mode fs.FileMode) func(string) error {
		return func(path string) error { return os.Chmod(path, mode) }
	}
	chown := func(path string) error { return os.Chown(path, 12345, -1) }
	for name, test := range map[string]struct {
		file   string // in the folder
		change func(path string) error
		want   string
	}{
		"the group may write into the folder": {".", change(0o770), "others may write to it (drwxrwx---)"},
		"all may write into the folder":       {".", change(0o703), "others may write to it (drwx----wx)"},
		"all may write into a sticky folder":  {".", change(0o777 | fs.ModeSticky), "others may write to it"},
		"all may write records.jsonl":         {"records.jsonl", change(0o602), "records.jsonl: others may write to it"},
		"the group may write records.jsonl":   {"records.jsonl", change(0o620), "records.jsonl: others may write to it"},
		"the folder belongs to another user":  {".", chown, "it belongs to another user (uid 12345)"},
		"a file belongs to another user":      {"records.jsonl", chown, "records.jsonl: it belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			path := finishedRun(t)
			if err := test.change(filepath.Join(path, test.file)); errors.Is(err, fs.ErrPermission) {
				t.Skip(err) // only root can give a file away
			} else if err != nil {
				t.Fatal(err)
			}
			_, err := backup.Open(path)
			checkError(t, err, path, test.want)
			if !errors.As(err, new(*backup.WorldWritableError)) {
				t.Errorf("%T is not a WorldWritableError", err)
			}
		})
	}
	t.Run("others may read it", func(t *testing.T) {
		path := finishedRun(t)
		if err := errors.Join(os.Chmod(path, 0o755), os.Chmod(filepath.Join(path, "records.jsonl"), 0o644)); err != nil {
			t.Fatal(err)
		}
		shut := open(t, path)
		if err := shut.Close(); err != nil {
			t.Error(err)
		}
	})
}
