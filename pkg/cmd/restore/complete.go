package restore

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

// completeBackup offers the names of backups, or folders if there are none, and after a
// backup its objects.
func (f *restoreFlags) completeBackup(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return cli.WithoutWords(cli.HarmlessWithPrefix(f.objectNames(args[0]), typed), args[1:]), cobra.ShellCompDirectiveNoFileComp
	}
	root, err := f.backupRoot()
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
func (f *restoreFlags) objectNames(name string) []string {
	saved, err := f.open(name)
	if err != nil {
		return nil
	}
	defer saved.Close()
	var out []string
	for _, e := range saved.Entries {
		if in := f.options.Scan.Config.Namespace(); in == "" || in == e.Object.Namespace {
			out = append(out, strings.ToLower(e.Object.Kind)+"/"+e.Object.Name)
		}
	}
	return out
}
