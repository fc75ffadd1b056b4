package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// backupRoot returns the folder of the backups of the current context.
func (f *restoreFlags) backupRoot() (string, error) {
	name, _, err := f.options.Scan.ContextAndServer()
	if err != nil {
		return "", err
	}
	return f.options.Flags.BackupRoot(name)
}

// list lists the backups of the current context.
func (f *restoreFlags) list() error {
	if !f.options.ForPerson() || f.options.Scan.From != "" {
		return &cli.UsageError{Err: errors.New("no backup given"), Command: cli.CommandName + " restore"}
	}
	root, err := f.backupRoot()
	if err != nil {
		return err
	}
	names, err := backupNames(root)
	if err != nil {
		return fmt.Errorf("list backups: %w", err)
	}
	if len(names) == 0 {
		fmt.Fprintf(f.options.Scan.Err, "No backups in %s.\n", escape.Terminal(root))
		return nil
	}
	rows := make([][]string, len(names))
	for i, name := range names {
		rows[i] = row(root, name)
	}
	return table.Write(f.options.Scan.Out, []string{"BACKUP", "COMMAND", "BACKED UP", "RESTORED", "STATE"}, rows)
}

func backupNames(root string) ([]string, error) {
	folders, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, folder := range folders {
		if folder.IsDir() {
			names = append(names, folder.Name())
		}
	}
	return names, err
}

// row returns the table row of a backup, even if it cannot be opened.
func row(root, name string) []string {
	b, err := backup.Open(filepath.Join(root, name))
	if err != nil {
		return []string{escape.Terminal(name), "", "", "", escape.Short(err.Error(), 200)}
	}
	defer b.Close()
	state := "complete"
	if b.Header.Finished.IsZero() {
		state = "interrupted or still running"
	}
	restored := map[string]bool{}
	for _, r := range b.Restored {
		if r.Action == string(plan.Create) && r.Status == string(event.Done) {
			restored[string(r.Object.UID)] = true
		}
	}
	return []string{
		escape.Terminal(name), escape.Short(b.Header.Command, 20), wording.Count(len(b.Entries), "object"),
		strconv.Itoa(len(restored)), state,
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
