package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// A cluster is identified by the UID of its Namespace kube-system, because two clusters may
// share a server URL or the name of a context. An unknown UID equals no other, not even
// another unknown one.

// IdentifyCluster returns the UID of the scanned cluster; empty if that was a file, or if the user may not read it.
func IdentifyCluster(ctx context.Context, live *client.Client, seen *snapshot.Snapshot) types.UID {
	uid := read.UIDInScan(seen)
	if uid == "" && live != nil {
		uid, _ = read.UID(ctx, live) // else the backup has witnesses
	}
	return uid
}

// RunBackup is the backup of one run, or of one round of controller: a folder with its steps, and
// the manifests of the objects that it deletes or repairs.
type RunBackup struct {
	cluster  *client.Client
	snapshot *snapshot.Snapshot
	folder   *backup.Folder
	now      func() time.Time
	// unidentified means that the backup does not say which cluster it is of.
	unidentified bool
}

// RoundPrefix begins the names of the backups of rounds.
const RoundPrefix = "controller-"

// BackupPlace is where a run is backed up, below BackupRoot.
type BackupPlace struct {
	Prefix     string    // begins the name of the folder
	ClusterUID types.UID // empty if unknown
	Shares     *backup.Shares
}

// NewRunBackup creates the folder of a plan, with its steps.
func NewRunBackup(o *MutatingOptions, at BackupPlace, live *client.Client, seen *snapshot.Snapshot, p *plan.Plan) (*RunBackup, error) {
	root, err := o.BackupRoot()
	if err != nil {
		return nil, err
	}
	name, server, err := o.Scan.ContextAndServer()
	if err != nil {
		return nil, err
	}
	now := o.Scan.Now().UTC()
	header := backup.Header{
		Tool: Release(), ClusterUID: string(at.ClusterUID), Server: server, ServerVersion: seen.Server, Context: name,
		Command: o.command, Mode: string(p.Mode), Digest: p.Digest(), Started: now,
	}
	if at.ClusterUID == "" {
		header.Witnesses = witnesses(seen, p)
	}
	folder, err := backup.Create(root, at.Prefix+now.Format("2006-01-02T15-04-05Z"), header, o.Scan.Disk)
	if errors.As(err, new(*backup.WorldWritableError)) {
		return nil, WithHint(err, "use --backup-dir to choose a folder that only you can read: backups may contain Secrets")
	}
	if err != nil {
		return nil, err
	}
	folder.Shares = at.Shares
	if err := folder.SaveSteps(storedSteps(p)); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return &RunBackup{
		cluster: live, snapshot: seen, folder: folder, now: o.Scan.Now,
		unidentified: at.ClusterUID == "" && len(header.Witnesses) == 0,
	}, nil
}

// storedSteps returns the steps of a plan as a backup stores them.
func storedSteps(p *plan.Plan) iter.Seq[event.Step] {
	return func(yield func(event.Step) bool) {
		for i := range p.Steps {
			s := &p.Steps[i]
			out := event.Step{ID: s.ID, Action: string(s.Action), Requested: s.Requested, Object: s.Object.Identity, Why: escape.Short(s.Reason.Message(), maxStoredReason)}
			for _, r := range s.References {
				if s.Action == plan.ActionDelete {
					break
				}
				out.References = append(out.References, event.ReferenceChange{Before: r.Reference, After: r.Becomes})
			}
			if !yield(out) {
				return
			}
		}
	}
}

// maxStoredReason is how many characters of the reason of a step a backup stores. It may name thousands of objects.
const maxStoredReason = 1000

// Write implements planrun.BackupWriter.
func (b *RunBackup) Write(ctx context.Context, objects []object.Identity) (saved map[types.UID]*object.Object, failed map[types.UID]error, err error) {
	if saved, failed, err = read.Manifests(ctx, b.cluster, b.snapshot, objects, b.folder.Save); err == nil {
		err = b.folder.Sync()
	}
	return saved, failed, err
}

// Record records the result of a step.
func (b *RunBackup) Record(e event.Event) error {
	return b.folder.AddResult(e.Record(b.now()))
}

// Close completes the backup.
func (b *RunBackup) Close() error {
	return errors.Join(b.folder.Finish(b.now().UTC()), b.folder.Close())
}

// closeBackup closes the backup, if there is one. That of an interrupted run is not completed.
func closeBackup(b *RunBackup, finished bool) error {
	switch {
	case b == nil:
		return nil
	case finished:
		return b.Close()
	}
	return b.folder.Close()
}

// ContextAndServer returns the name of the context in use and the URL of its server,
// which holds no credentials.
func (s *ScanOptions) ContextAndServer() (name, server string, err error) {
	_, name, contextsErr := s.Config.Contexts()
	config, err := s.Config.Config()
	if err := cmp.Or(contextsErr, err); err != nil {
		return "", "", s.kubeconfigError(err)
	}
	return name, redact.URL(config.Host), nil
}
