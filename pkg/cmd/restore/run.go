package restore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/recreate"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// scope returns the whole cluster or the namespace of -n, and the objects of the backup.
func (c *restoreCommand) scope(ctx context.Context) (scan.Scope, error) {
	o := c.options.Scan
	served, err := o.Types(ctx)
	if err != nil {
		return scan.Scope{}, err
	}
	if c.how.Only, err = c.filter(served); err != nil {
		return scan.Scope{}, err
	}
	// A user may have rights in one namespace only. What is in it has its owners there, or at the cluster scope.
	namespace := cmp.Or(o.Config.Namespace(), c.input.Namespace())
	out := o.Everything(scan.Scope{Targets: c.input.Targets(served, namespace)})
	if namespace != "" {
		out.Namespaces = []string{namespace}
	}
	return out, nil
}

// plan plans the restoration. Accepted gaps make no difference to it.
func (c *restoreCommand) plan(ctx context.Context, seen cli.Scanned, _ snapshot.AcceptedGaps) (*plan.Plan, error) {
	if seen.Cluster != nil {
		if err := c.recognise(ctx, seen.Cluster, seen.Snapshot); err != nil {
			return nil, err
		}
	}
	c.restoration = restore.New(c.input, seen.Snapshot, c.how)
	return c.restoration.Plan, nil
}

// planRemaining plans another restoration, which knows the objects that this one created.
func (c *restoreCommand) planRemaining(_ context.Context, _ *plan.Plan, after cli.Scanned) (*plan.Plan, error) {
	return restore.New(c.input, after.Snapshot, c.how).Plan, nil
}

// recreate creates the objects of the planned restoration, and records each.
func (c *restoreCommand) recreate(ctx context.Context, now cli.Planned, o execute.Tuning) *execute.RunResult {
	future := *now.Snapshot
	future.Types = slices.Concat(now.Snapshot.Types, c.restoration.Types)
	o.Record = c.recordResult
	return recreate.Run(ctx, c.restoration, write.New(now.Cluster, &future, o.DryRun).Creator(c.manager), c, o)
}

// recognise finds the objects that an earlier restoration created without recording it,
// because it was interrupted.
func (c *restoreCommand) recognise(ctx context.Context, live *client.Client, seen *snapshot.Snapshot) error {
	unrecorded := c.input.UnrecordedObjects(seen)
	identities := make([]object.Identity, 0, len(unrecorded))
	for _, now := range unrecorded {
		identities = append(identities, now)
	}
	made, err := write.New(live, seen, false).Creator(c.manager).Made(ctx, identities)
	for then, now := range unrecorded {
		if made[now] == now.UID {
			c.input.Recreated[then] = now.UID
		}
	}
	return err
}

// warnOfExact warns of references that --exact restores although their owner is gone.
func (c *restoreCommand) warnOfExact() {
	dangling := map[types.UID]bool{}
	for i := range c.restoration.Plan.Steps {
		s := &c.restoration.Plan.Steps[i]
		for _, ref := range s.References {
			if ref.Verdict != collector.VerdictSolid {
				dangling[s.Object.UID] = true
			}
		}
	}
	if len(dangling) > 0 {
		fmt.Fprintf(c.options.Scan.Err, "warning: --exact restores references that lead to no owner: the garbage collector will act on %d of these objects\n", len(dangling))
	}
}

// readBackup returns what a restoration is planned from, and warns of what is missing.
func readBackup(saved *backup.Backup, warnings io.Writer) restore.SavedRun {
	if saved.Header.Mode == backup.FromLog {
		fmt.Fprintln(warnings, "warning: the backup is from an audit log: objects are as its last event shows them, which may be older than the deletion, and are as trustworthy as whoever can write to the log")
	}
	if saved.Truncated != "" {
		fmt.Fprintf(warnings, "warning: the backup is truncated at %s: a run or restore was interrupted there, and what follows is not used\n", saved.Truncated)
	}
	in := restore.SavedRun{
		Mode: plan.Mode(saved.Header.Mode), Saved: saved.Entries, Steps: saved.Steps, Results: saved.Results, Manifest: saved.Manifest,
		Recreated: map[types.UID]types.UID{},
	}
	for _, made := range saved.Restored {
		if made.UID != "" {
			in.Recreated[made.Object.UID] = made.UID
		}
	}
	return in
}

// fieldManagers returns a function that derives the field manager of an object created from a backup. A
// later restoration recognizes its objects by it. It depends on facts of the backup that the cluster
// does not show, so that nobody can pass off another object as restored.
func fieldManagers(h backup.Header) func(object.Identity) string {
	key := h.Server + "\n" + h.Digest + "\n" + h.Started.UTC().String()
	return func(o object.Identity) string {
		sum := sha256.Sum256([]byte(strings.Join([]string{key, o.Kind, o.Namespace, o.Name}, "\n")))
		return "kubectl-gc-restore-" + hex.EncodeToString(sum[:8])
	}
}

// RecordCreated implements recreate.Recorder. If the journal cannot be written, another restoration
// recognises the object by its field manager.
func (c *restoreCommand) RecordCreated(o object.Identity, uid types.UID) error {
	c.mu.Lock()
	c.input.Recreated[o.UID] = uid
	c.mu.Unlock()
	return c.journal.Add(event.Record{
		Action: string(plan.ActionCreate), Object: o, UID: uid, Status: event.Done, Time: c.options.Scan.Now().UTC(),
	})
}

// recordResult records the result of a step for which RecordCreated is not called.
func (c *restoreCommand) recordResult(e event.Event) error {
	if e.Action == string(plan.ActionCreate) && e.Status == event.Done {
		return nil
	}
	r := e.Record(c.options.Scan.Now())
	r.Step = ""
	return c.journal.Add(r)
}

// closeJournal closes the journal, if it is open.
func (c *restoreCommand) closeJournal() error {
	if c.journal == nil {
		return nil
	}
	err := c.journal.Close()
	c.journal = nil
	return err
}
