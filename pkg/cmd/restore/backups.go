package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// open opens the backup in a folder, or with a name below the folder of the context.
func (c *restoreCommand) open(name string) (*backup.Backup, error) {
	saved, err := c.find(name)
	if errors.As(err, new(*backup.WorldWritableError)) {
		return nil, cli.WithHint(err, "others can change this backup: if you trust it, remove their permission with chmod -R go-w, or restore a copy in a folder of your own")
	}
	return saved, err
}

func (c *restoreCommand) find(name string) (*backup.Backup, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return nil, cli.Usagef("%s is not a backup, which is a folder", cli.Quote(name))
	case err == nil || filepath.Base(name) != name:
		return backup.Open(name)
	}
	root, err := c.options.BackupRoot()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(root, name)
	saved, err := backup.Open(path)
	if _, statErr := os.Stat(path); errors.Is(statErr, fs.ErrNotExist) {
		known, _ := backupNames(root) // the hint leads to the error
		err = cli.Usagef("there is no backup %s of this context%s", cli.Quote(name), cli.DidYouMean(cli.Nearest(name, known)))
	}
	return saved, cli.WithCommandHint(err, "give a folder, or a backup of this list", "restore")
}

// list lists the backups of the current context.
func (c *restoreCommand) list() error {
	if !c.options.ForPerson() || c.options.Scan.From != "" {
		return cli.WithHelp(cli.Usagef("no backup given"), cli.CommandName+" restore")
	}
	root, err := c.options.BackupRoot()
	if err != nil {
		return err
	}
	names, err := backupNames(root)
	if err != nil {
		return fmt.Errorf("list backups: %w", err)
	}
	if len(names) == 0 {
		fmt.Fprintf(c.options.Scan.Err, "No backups in %s.\n", escape.Terminal(root))
		return nil
	}
	rows := make([][]string, len(names))
	for i, name := range names {
		rows[i] = row(root, name)
	}
	return table.Write(c.options.Scan.Text(), []string{"BACKUP", "COMMAND", "BACKED UP", "RESTORED", "STATE"}, rows, "STATE", "BACKUP")
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
		if r.Action == string(plan.ActionCreate) && r.Status == event.Done {
			restored[string(r.Object.UID)] = true
		}
	}
	return []string{
		escape.Terminal(name), escape.Short(b.Header.Command, 20), wording.Count(len(b.Entries), "object"),
		strconv.Itoa(len(restored)), state,
	}
}

// completeBackup offers the names of backups, or folders if there are none, and after a
// backup its objects.
func (c *restoreCommand) completeBackup(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return cli.WithoutWords(cli.HarmlessWithPrefix(c.objectNames(args[0]), typed), args[1:]), cobra.ShellCompDirectiveNoFileComp
	}
	root, err := c.options.BackupRoot()
	if err != nil || strings.ContainsRune(typed, filepath.Separator) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	names, _ := backupNames(root) // a completion prints no errors
	if words := cli.HarmlessWithPrefix(names, typed); len(words) > 0 {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// objectNames returns the objects in a backup, in the namespace of -n.
func (c *restoreCommand) objectNames(name string) []string {
	saved, err := c.open(name)
	if err != nil {
		return nil
	}
	defer saved.Close()
	var out []string
	for _, e := range saved.Entries {
		if in := c.options.Scan.Config.Namespace(); in == "" || in == e.Object.Namespace {
			out = append(out, strings.ToLower(e.Object.Kind)+"/"+e.Object.Name)
		}
	}
	return out
}
