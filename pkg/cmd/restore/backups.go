package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// latest is the name of the latest backup of this cluster.
const latest = "latest"

// open opens the backup in a folder, with a name, or the latest.
func (c *restoreCommand) open(ctx context.Context, name string) (*backup.Backup, error) {
	saved, err := c.find(ctx, name)
	if errors.As(err, new(*backup.WorldWritableError)) {
		return nil, cli.WithHint(err, "others can change this backup: if you trust it, remove their permission with chmod -R go-w, or restore a copy in a folder of your own")
	}
	return saved, err
}

func (c *restoreCommand) find(ctx context.Context, name string) (*backup.Backup, error) {
	info, err := os.Stat(name)
	switch {
	case name == latest:
	case err == nil && !info.IsDir():
		return nil, cli.Usagef("%s is not a backup, which is a folder", cli.Quote(name))
	case err == nil || filepath.Base(name) != name:
		return backup.Open(name)
	}
	folders, err := c.options.BackupFolders()
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	if name == latest {
		return c.openLatest(ctx, folders)
	}
	known := []string{latest}
	for _, folder := range folders {
		if filepath.Base(folder) == name {
			return backup.Open(folder)
		}
		known = append(known, filepath.Base(folder))
	}
	err = cli.Usagef("there is no backup %s%s", cli.Quote(name), cli.DidYouMean(cli.Nearest(name, known)))
	return nil, cli.WithCommandHint(err, "give a folder, or a backup of this list", "restore")
}

// openLatest opens the latest backup of a run on this cluster that has changed something. Who may not read which
// cluster it is, gets one of the same server that does not say so either.
func (c *restoreCommand) openLatest(ctx context.Context, folders []string) (*backup.Backup, error) {
	if c.options.Scan.From != "" {
		return nil, cli.Usagef("the latest backup is that of a cluster: name the backup to preview against a file")
	}
	uid, unknown := c.clusterUID(ctx)
	_, server, err := c.options.Scan.ContextAndServer()
	if err != nil {
		return nil, err
	}
	for _, folder := range slices.Backward(folders) {
		saved, err := backup.Open(folder)
		if err != nil {
			continue // the list shows it
		}
		if h := saved.Header; h.ClusterUID == uid && (uid != "" || h.Server == server) && changed(saved) {
			fmt.Fprintf(c.options.Scan.Err, "The latest backup of this cluster: %s (%s)\n", escape.Terminal(folder), what(saved))
			return saved, nil
		}
		saved.Close()
	}
	if unknown != nil {
		return nil, fmt.Errorf("find the latest backup of this cluster: %w", unknown)
	}
	return nil, cli.WithCommandHint(cli.Usagef("there is no backup of this cluster that changed anything"), "this lists the backups of all clusters", "restore")
}

// clusterUID returns the UID that identifies this cluster.
func (c *restoreCommand) clusterUID(ctx context.Context) (string, error) {
	live, err := c.options.Scan.Connect()
	if err != nil {
		return "", err
	}
	uid, err := read.UID(ctx, live)
	return string(uid), err
}

// list lists the backups, those of this cluster last.
func (c *restoreCommand) list(ctx context.Context) error {
	if !c.options.ForPerson() || c.options.Scan.From != "" {
		return cli.WithHelp(cli.Usagef("no backup given"), cli.CommandName+" restore")
	}
	root, err := c.options.BackupRoot()
	if err != nil {
		return err
	}
	folders, err := c.options.BackupFolders()
	if err != nil {
		return fmt.Errorf("list backups: %w", err)
	}
	if len(folders) == 0 {
		fmt.Fprintf(c.options.Scan.Err, "No backups in %s.\n", escape.Terminal(root))
		return nil
	}
	uid, err := c.clusterUID(ctx)
	if err != nil {
		fmt.Fprintf(c.options.Scan.Err, "warning: cannot tell which backups are of this cluster: %s\n", escape.Short(err.Error(), 2000))
	}
	var others, ours [][]string
	for _, folder := range folders {
		if cells, same := row(folder, uid); same {
			ours = append(ours, cells)
		} else {
			others = append(others, cells)
		}
	}
	columns := []string{"BACKUP", "WHAT", "NAMESPACE", "STATE", "CLUSTER"}
	if len(others) == 0 { // all are of this cluster
		columns = columns[:4]
		for i := range ours {
			ours[i] = ours[i][:4]
		}
	}
	return table.Write(c.options.Scan.Text(), columns, append(others, ours...), "CLUSTER", "WHAT")
}

// row returns the table row of a backup, even if it cannot be opened, and whether it is of the cluster with this UID.
func row(folder, uid string) (cells []string, same bool) {
	name := escape.Terminal(filepath.Base(folder))
	b, err := backup.Open(folder)
	if err != nil {
		return []string{name, escape.Short(err.Error(), 200)}, false
	}
	defer b.Close()
	_, server, _ := strings.Cut(b.Header.Server, "://")
	cluster := "another, " + server
	switch {
	case uid == "" || b.Header.ClusterUID == "":
		cluster = "unknown, " + server
	case uid == b.Header.ClusterUID:
		cluster, same = "this one", true
	}
	restored := map[types.UID]bool{}
	for _, r := range b.Restored {
		if r.Action == string(plan.ActionCreate) && r.Status == event.Done {
			restored[r.Object.UID] = true
		}
	}
	state := "complete"
	switch {
	case b.Finished.IsZero():
		state = "interrupted or running"
	case !changed(b):
		state = "nothing was changed"
	case len(restored) > 0:
		state = fmt.Sprintf("restored %d of %d", len(restored), len(b.Entries))
	}
	var namespaces []string
	for _, e := range b.Entries {
		namespaces = append(namespaces, escape.Word(e.Object.Namespace))
	}
	slices.Sort(namespaces)
	return []string{name, what(b), wording.List(slices.Compact(namespaces), 1), state, escape.Short(cluster, 80)}, same
}

// changed reports whether the run of a backup has changed anything. One from an audit log did.
func changed(b *backup.Backup) bool {
	return b.Header.Mode == backup.FromLog || slices.ContainsFunc(b.Results, func(r event.Record) bool { return r.Status == event.Done })
}

// what returns what the run of a backup did: "delete Deployment/web +3".
func what(b *backup.Backup) string {
	first, others := "", len(b.Entries)-1
	if len(b.Entries) > 0 {
		first = b.Entries[0].Object.String()
	}
	if i := slices.IndexFunc(b.Steps, func(s event.Step) bool { return s.Requested }); i >= 0 {
		first = b.Steps[i].Object.String()
	}
	out := escape.Short(b.Header.Command, 20) + " " + escape.Short(first, 200)
	if others > 0 {
		out += fmt.Sprintf(" +%d", others)
	}
	return out
}

// completeBackup offers the names of backups, or folders if there are none, and after a
// backup its objects.
func (c *restoreCommand) completeBackup(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return cli.WithoutWords(cli.HarmlessWithPrefix(c.objectNames(cmd.Context(), args[0]), typed), args[1:]), cobra.ShellCompDirectiveNoFileComp
	}
	folders, _ := c.options.BackupFolders() // a completion prints no errors
	names := []string{latest}
	for _, folder := range folders {
		names = append(names, filepath.Base(folder))
	}
	if words := cli.HarmlessWithPrefix(names, typed); len(words) > 0 {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// objectNames returns the objects in a backup, in the namespace of -n.
func (c *restoreCommand) objectNames(ctx context.Context, name string) []string {
	saved, err := c.open(ctx, name)
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
