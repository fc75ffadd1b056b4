package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// runBackup writes the objects that a run deletes or changes into one folder.
type runBackup struct {
	cluster  *client.Client
	snapshot *snapshot.Snapshot
	folder   *backup.Folder
	shares   *backup.Shares // nil: without a limit
}

// newRunBackup creates the folder of this run. It returns nil for --no-backup.
func (op *Operation) newRunBackup() (*runBackup, error) {
	if op.Options.NoBackup {
		return nil, nil
	}
	name, _, err := op.Options.Scan.ContextAndServer()
	if err != nil {
		return nil, err
	}
	root, err := op.Options.BackupRoot(name)
	if err != nil {
		return nil, err
	}
	return op.newBackupIn(root, "", nil)
}

// RoundBackup is the backup of one round of a run without end. It implements controller.Backup.
type RoundBackup struct {
	*runBackup
	now func() time.Time
}

// RoundPrefix begins the names of the backups of rounds.
const RoundPrefix = "watch-"

// NewRoundBackup creates the folder of one round below root. It refuses objects that exceed the share of
// their namespace, to which its steps count as well.
func (op *Operation) NewRoundBackup(root string, shares *backup.Shares) (*RoundBackup, error) {
	b, err := op.newBackupIn(root, RoundPrefix, shares)
	if err != nil {
		return nil, err
	}
	return &RoundBackup{b, op.Options.Scan.Now}, nil
}

// Record records the result of a step.
func (b *RoundBackup) Record(e event.Event) error { return b.noteResult(e, b.now()) }

// Close completes the backup.
func (b *RoundBackup) Close() error { return b.close(true, b.now()) }

// newBackupIn creates the folder of the current plan below root, with its steps. Its name begins with the prefix.
func (op *Operation) newBackupIn(root, prefix string, shares *backup.Shares) (*runBackup, error) {
	name, server, err := op.Options.Scan.ContextAndServer()
	if err != nil {
		return nil, err
	}
	now := op.Options.Scan.Now().UTC()
	folder, err := backup.Create(root, prefix+now.Format("2006-01-02T15-04-05Z"), backup.Header{
		Tool: Release(), ClusterUID: string(op.ClusterUID), Server: server, ServerVersion: op.Current.Snapshot.Server, Context: name,
		Command: op.Options.command, Mode: string(op.Current.Plan.Mode), Digest: op.Current.Plan.Digest, Started: now,
	})
	if errors.As(err, new(*backup.WorldWritableError)) {
		return nil, WithHint(err, "use --backup-dir to choose a folder that only you can read: backups may contain Secrets")
	}
	if err != nil {
		return nil, err
	}
	err = folder.SaveSteps(storedSteps(op.Current.Plan), func(s backup.Step, bytes int) {
		if shares != nil {
			_ = shares.Take(s.Object.InNamespace(), bytes) // it remembers which are full
		}
	})
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return &runBackup{cluster: op.Current.Cluster, snapshot: op.Current.Snapshot, folder: folder, shares: shares}, nil
}

// storedSteps returns the steps of a plan as a backup stores them.
func storedSteps(p *plan.Plan) iter.Seq[backup.Step] {
	return func(yield func(backup.Step) bool) {
		for i := range p.Steps {
			s := &p.Steps[i]
			out := backup.Step{Step: s.ID, Action: string(s.Action), Requested: s.Requested, Object: s.Object.Identity, Why: escape.Short(reason.Message(s.Reason), maxStoredReason)}
			for _, r := range s.References {
				if s.Action == plan.ActionDelete {
					break
				}
				change := backup.ReferenceChange{Before: r.OwnerReference()}
				if r.Becomes != nil {
					after := r.Becomes.OwnerReference()
					change.After = &after
				}
				out.References = append(out.References, change)
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
func (b *runBackup) Write(ctx context.Context, objects []object.Identity) ([]planrun.Written, error) {
	written := map[types.UID]planrun.Written{}
	failed, err := read.Manifests(ctx, b.cluster, b.snapshot, objects, func(o object.Object, manifest json.RawMessage) error {
		if err := b.save(o, manifest); err != nil {
			written[o.UID] = planrun.Written{Err: err}
		} else {
			written[o.UID] = planrun.Written{Object: &o}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := b.folder.Sync(); err != nil {
		return nil, err
	}
	out := make([]planrun.Written, len(objects))
	for i, o := range objects {
		out[i] = written[o.UID]
		out[i].Err = cmp.Or(out[i].Err, failed[o.UID])
	}
	return out, nil
}

// save saves a manifest if the share of its namespace has room.
func (b *runBackup) save(o object.Object, manifest json.RawMessage) error {
	if b.shares != nil {
		if err := b.shares.Take(o.InNamespace(), len(manifest)); err != nil {
			return err
		}
	}
	return b.folder.Save(o, manifest)
}

// noteResult records the result of a step.
func (b *runBackup) noteResult(e event.Event, at time.Time) error {
	return b.folder.AddResult(backup.Result{
		Step: e.Step, Action: e.Action, Object: *e.Object, Status: string(e.Status), Stored: reason.StoreOptional(e.Reason), Time: at.UTC(),
	})
}

// close closes the backup, and records the time unless the run was interrupted.
func (b *runBackup) close(finished bool, at time.Time) error {
	if b == nil {
		return nil
	}
	var err error
	if finished {
		err = b.folder.Finish(at.UTC())
	}
	return errors.Join(err, b.folder.Close())
}

// StopsRun is the format of an error after which a run starts no further step, because
// a later restoration relies on the record.
const StopsRun = "%s: no further step is started"

// RecordFailure reports, once per run, that something could not be recorded. The run then
// starts no further step.
func (op *Operation) RecordFailure(format string, err error) {
	if op.failure.CompareAndSwap(nil, &err) {
		op.progress.note("error: " + fmt.Sprintf(format, escape.Short(err.Error(), 2000)) + "\n")
	}
}

// recordError returns the first error of RecordFailure.
func (op *Operation) recordError() error {
	if err := op.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// ContextAndServer returns the name of the context in use and the URL of its server,
// which holds no credentials.
func (s *ScanOptions) ContextAndServer() (name, server string, err error) {
	_, name, contextsErr := s.Config.Contexts()
	config, err := s.Config.Config()
	if err := cmp.Or(contextsErr, err); err != nil {
		return "", "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return name, redact.URL(config.Host), nil
}
