package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace/logs"
)

// checkSave returns an error if the backup of --save-backup cannot be made.
func (c *traceCommand) checkSave() error {
	if c.saveBackup == "" {
		return nil
	}
	_, err := os.Lstat(c.saveBackup)
	if c.saveBackup = filepath.Clean(c.saveBackup); err == nil {
		return cli.Usagef("%s exists: --save-backup makes a new folder", cli.Quote(c.saveBackup))
	}
	for _, file := range c.auditLogs {
		if info, err := os.Stat(file); file == "-" || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return cli.Usagef("--save-backup reads the audit log twice: save it to a file first")
		}
	}
	return cli.UsageIf(c.query == (trace.Question{}), "--save-backup needs the object whose cascade to save, or its --uid")
}

// save writes the objects of a cascade that an audit log has whole to a backup, and says how to restore it.
func (c *traceCommand) save(ctx context.Context, before *snapshot.Snapshot, all *trace.Cascade) error {
	deletions := lastOfEachName(all)
	var missing []string
	of := map[string]map[logs.Whole]object.Identity{} // by file, what the log calls them
	for _, d := range deletions {
		if d.Whole == nil {
			missing = append(missing, escape.Line(cmp.Or(d.Object.Kind, d.Resource)+"/"+d.Object.Name))
			continue
		}
		if of[d.Whole.File] == nil {
			of[d.Whole.File] = map[logs.Whole]object.Identity{}
		}
		of[d.Whole.File][logs.Whole{Offset: d.Whole.Offset, UID: d.Object.UID}] = d.Object
	}
	if len(of) == 0 {
		return cli.WithHint(fmt.Errorf("save a backup: the logs have none of %s in full", wording.Count(len(deletions), "object")),
			"an audit log has them if its policy logs these writes at level RequestResponse, which no policy should do for Secrets")
	}
	header := backup.Header{
		Tool: cli.Release(), ClusterUID: string(clusterUID(before, deletions)),
		Command: "trace", Mode: backup.FromLog, Started: c.scan.Now().UTC(),
	}
	folder, err := backup.Create(filepath.Dir(c.saveBackup), filepath.Base(c.saveBackup), header, c.scan.Disk)
	if err != nil {
		return err
	}
	failed, err := c.copyObjects(ctx, of, folder)
	if err == nil {
		err = folder.Finish(c.scan.Now().UTC())
	}
	if err := errors.Join(err, folder.Close()); err != nil {
		return fmt.Errorf("backup %s is not complete: %w", cli.Quote(folder.Path()), err)
	}
	if len(failed) > 0 {
		fmt.Fprintf(c.scan.Err, "warning: %s cannot be saved. The first: %s\n", wording.Count(len(failed), "object"), escape.Sentence(failed[0].Error()))
	}
	fmt.Fprintf(c.scan.Err, "Saved %s of %s, as the audit log shows them last. Secrets usually are in no audit log.\n",
		wording.Thousands(len(deletions)-len(missing)-len(failed)), wording.Count(len(deletions), "object"))
	if len(missing) > 0 {
		fmt.Fprintf(c.scan.Err, "The log does not have the whole of %s.\n", wording.List(missing, 5))
	}
	words, note := []string{"restore", folder.Path(), "--dry-run"}, ""
	if header.ClusterUID == "" {
		words, note = append(words, "--to-another-cluster"), " (the log does not say which cluster it is from: check that)"
	}
	fmt.Fprintf(c.scan.Err, "To preview their restoration%s: %s\n", note, c.scan.Suggest(words...))
	return nil
}

// lastOfEachName returns the deletions of a cascade, of objects that had the same name the last one.
func lastOfEachName(c *trace.Cascade) (last []*trace.Deletion) {
	type named struct{ resource, kind, namespace, name string }
	index := map[named]int{}
	for i := range c.Deletions {
		d := &c.Deletions[i]
		n := named{d.Resource, d.Object.Kind, d.Object.Namespace, d.Object.Name}
		if at, ok := index[n]; !ok {
			index[n] = len(last)
			last = append(last, d)
		} else if d.At.After(last[at].At) {
			last[at] = d
		}
	}
	return last
}

// clusterUID returns the UID of Namespace kube-system in the earlier scan, if that is of the cluster of the log.
func clusterUID(before *snapshot.Snapshot, deletions []*trace.Deletion) types.UID {
	if before == nil {
		return ""
	}
	deleted := map[types.UID]bool{}
	for _, d := range deletions {
		deleted[d.Object.UID] = d.Object.UID != ""
	}
	if !slices.ContainsFunc(before.Objects, func(o *object.Object) bool { return deleted[o.UID] }) {
		return ""
	}
	return read.UIDInScan(before)
}

// copyObjects copies objects from logs to a backup, and returns why some could not be saved. of has what the log
// calls them, by file.
func (c *traceCommand) copyObjects(ctx context.Context, of map[string]map[logs.Whole]object.Identity, folder *backup.Folder) (failed []error, err error) {
	save := func(o *unstructured.Unstructured, as object.Identity) {
		if o.GetNamespace() == "" { // a client may leave it out
			o.SetNamespace(as.Namespace)
		}
		if o.GetNamespace() != as.Namespace || o.GetName() != as.Name || as.Kind != "" && o.GetKind() != as.Kind {
			failed = append(failed, fmt.Errorf("the log has %s/%s as the content of %s", o.GetKind(), o.GetName(), as))
			return
		}
		// The answer to the DELETE says that it is being deleted: restore would leave it alone.
		o.SetDeletionTimestamp(nil)
		o.SetDeletionGracePeriodSeconds(nil)
		raw, err := o.MarshalJSON()
		if err == nil {
			err = folder.Save(object.FromMeta(o.GetAPIVersion(), o.GetKind(), o, false), raw)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	reader := logReader{scan: c.scan}
	for _, file := range slices.Sorted(maps.Keys(of)) {
		err := reader.open(file, func(in io.Reader, shown string) error {
			wanted := slices.Collect(maps.Keys(of[file]))
			return logs.ReadObjects(ctx, in, shown, wanted, func(w logs.Whole, o *unstructured.Unstructured) { save(o, of[file][w]) })
		})
		if err != nil {
			return failed, err
		}
	}
	return failed, folder.Sync()
}
