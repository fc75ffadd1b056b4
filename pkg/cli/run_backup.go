package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// runBackup saves whole objects of a cluster in one folder.
type runBackup struct {
	live   *client.Client
	seen   *snapshot.Snapshot
	folder *backup.Folder
}

// newRunBackup opens a folder for what this run deletes; nil where nothing is to be
// saved.
func (a *Operation) newRunBackup() (*runBackup, error) {
	if a.Options.NoBackup {
		return nil, nil
	}
	name, server, err := a.Options.Scan.ContextAndServer()
	if err != nil {
		return nil, err
	}
	root, err := a.Options.BackupRoot(name)
	if err != nil {
		return nil, err
	}
	now := a.Options.Scan.Now().UTC()
	folder, err := backup.Create(root, now.Format("2006-01-02T15-04-05Z"), backup.Header{
		Tool: Release(), ClusterUID: string(a.ClusterUID), Server: server, ServerVersion: a.Snapshot.Server, Context: name,
		Command: string(a.Plan.Mode), Digest: a.Plan.Digest, Started: now,
	})
	if errors.As(err, new(*backup.WorldWritableError)) {
		return nil, WithHint(err, "use --backup-dir to choose a folder that only you can read: backups may contain Secrets")
	}
	if err != nil {
		return nil, err
	}
	var encoded bytes.Buffer
	err = EscapeJSON(a.Plan.Finalized().Save)(&encoded)
	if err == nil {
		err = folder.SavePlan(encoded.Bytes())
	}
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return &runBackup{a.Cluster, a.Snapshot, folder}, nil
}

// Write is execute.Keeper.
func (k *runBackup) Write(ctx context.Context, objects []object.Identity) ([]execute.Written, error) {
	saved, unsaved := map[types.UID]*object.Object{}, map[types.UID]error{}
	failed, err := read.Manifests(ctx, k.live, k.seen, objects, func(o object.Object, manifest json.RawMessage) error {
		if err := k.folder.Save(o, manifest); err != nil {
			unsaved[o.UID] = err
			return nil
		}
		saved[o.UID] = &o
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := k.folder.Sync(); err != nil {
		return nil, err
	}
	out := make([]execute.Written, len(objects))
	for i, o := range objects {
		out[i] = execute.Written{Object: saved[o.UID], Err: cmp.Or(unsaved[o.UID], failed[o.UID])}
	}
	return out, nil
}

// note writes down what became of a step.
func (k *runBackup) note(e event.Event, at time.Time) error {
	return k.folder.Done(backup.Result{
		Step: e.Step, Action: e.Action, Object: *e.Object, Status: string(e.Status), Stored: reason.StoreOptional(e.Reason), Time: at.UTC(),
	})
}

// close ends the backup. Only a run that came to its end has a time at which it
// finished.
func (k *runBackup) close(ended bool, at time.Time) error {
	if k == nil {
		return nil
	}
	var err error
	if ended {
		err = k.folder.Finish(at.UTC())
	}
	return errors.Join(err, k.folder.Close())
}

// ContextAndServer returns the name of the context in use and the URL of its server,
// which holds no credentials.
func (s *ScanOptions) ContextAndServer() (name, server string, err error) {
	_, name, err = s.Config.Contexts()
	if err != nil {
		return "", "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	config, err := s.Config.Config()
	if err != nil {
		return "", "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	return name, redact.URL(config.Host), nil
}
