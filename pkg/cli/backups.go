package cli

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// backupHome returns the folder of the backups of all contexts.
func backupHome() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", WithHint(fmt.Errorf("find the backups: %w", err), "choose a folder with --backup-dir")
	}
	return filepath.Join(home, ".kube", "gc-backup"), nil
}

// BackupFolders returns the folders of the backups in --backup-dir, or else of those of all contexts, since several may
// lead to one cluster. The latest is the last.
func (o *MutatingOptions) BackupFolders() ([]string, error) {
	if o.backupDir != "" {
		return backupFolders(o.backupDir, "*")
	}
	home, err := backupHome()
	if err != nil {
		return nil, err
	}
	return backupFolders(home, "*/*")
}

// backupFolders returns the folders of backups whose paths below a root match a pattern. A missing root is not an error.
func backupFolders(root, pattern string) ([]string, error) {
	files, err := fs.Glob(os.DirFS(root), path.Join(pattern, backup.RecordsFile))
	if _, rootErr := os.ReadDir(root); rootErr != nil && !os.IsNotExist(rootErr) {
		err = rootErr
	}
	for i, file := range files {
		files[i] = filepath.Join(root, filepath.FromSlash(path.Dir(file)))
	}
	begun := func(folder string) string { return strings.TrimPrefix(filepath.Base(folder), RoundPrefix) }
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(begun(a), begun(b)), cmp.Compare(a, b)) })
	return files, err
}

// maxSearched is how many backups are searched for an object.
const maxSearched = 50

// DeletedByRun returns which run of this program has deleted an object that is gone, by the
// backups of the scanned cluster; nil if none is known. Without a UID, the latest object of that name counts.
func DeletedByRun(ctx context.Context, live *client.Client, seen *snapshot.Snapshot, at object.Identity) *reason.DeletedByRun {
	home, err := backupHome()
	if err != nil {
		return nil
	}
	folders, _ := backupFolders(home, "*/*")
	if len(folders) == 0 {
		return nil
	}
	uid := IdentifyCluster(ctx, live, seen)
	for i := len(folders) - 1; i >= max(0, len(folders)-maxSearched); i-- {
		if r := deletionIn(folders[i], string(uid), seen, at); r != nil {
			return r
		}
	}
	return nil
}

// deletionIn is DeletedByRun for one backup.
func deletionIn(folder, clusterUID string, seen *snapshot.Snapshot, at object.Identity) *reason.DeletedByRun {
	b, err := backup.Open(folder)
	if err != nil {
		return nil
	}
	defer b.Close()
	if clusterUID != b.Header.ClusterUID || clusterUID == "" && !IsOf(b.Header, seen) {
		return nil
	}
	restored := func(uid types.UID) bool {
		return slices.ContainsFunc(b.Restored, func(r event.Record) bool { return r.Object.UID == uid && r.Action == string(plan.ActionCreate) })
	}
	for _, r := range slices.Backward(b.Results) {
		o := r.Object
		same := o.GroupVersionKind().GroupKind() == at.GroupVersionKind().GroupKind() && o.Namespace == at.Namespace && o.Name == at.Name
		if at.UID != "" {
			same = o.UID == at.UID
		}
		if same && r.Action == string(plan.ActionDelete) && r.Status == event.Done && !restored(o.UID) {
			return &reason.DeletedByRun{Command: b.Header.Command, Time: r.Time, Backup: folder}
		}
	}
	return nil
}
