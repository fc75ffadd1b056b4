package restore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// readBackup returns what a restoration is planned from, and warns of what is missing.
func readBackup(saved *backup.Backup, warnings io.Writer) restore.Backup {
	for _, truncated := range saved.Truncated {
		fmt.Fprintf(warnings, "warning: the backup is truncated: %s\n", escape.Short(truncated.String(), 2000))
	}
	entries := make(map[types.UID]backup.Entry, len(saved.Entries))
	in := restore.Backup{Recreated: map[types.UID]types.UID{}}
	for _, e := range saved.Entries {
		entries[e.Object.UID] = e
		in.Saved = append(in.Saved, restore.Saved{Object: e.Object, ResourceVersion: e.ResourceVersion, SHA256: e.SHA256})
	}
	for _, d := range saved.Results {
		in.StepResults = append(in.StepResults, restore.StepResult{Step: d.Step, Object: d.Object.UID, Action: d.Action, Status: event.Status(d.Status)})
	}
	for _, made := range saved.Restored {
		if made.UID != "" {
			in.Recreated[made.Object.UID] = made.UID
		}
	}
	in.Manifest = func(s restore.Saved) (json.RawMessage, error) { return saved.Manifest(entries[s.Object.UID]) }
	encoded, err := saved.Plan()
	if err == nil && encoded != nil {
		in.Plan, err = plan.Load(bytes.NewReader(encoded))
	}
	if err != nil || encoded == nil {
		if err == nil {
			err = fmt.Errorf("the backup has none")
		}
		fmt.Fprintf(warnings, "warning: cannot read the plan of the run, so references that it removed from existing objects are not restored: %s\n", escape.Short(err.Error(), 2000))
	}
	return in
}

// fieldManager returns the field manager of the objects that are created from a backup. It
// is unique to the backup, so that a later restoration recognises them.
func fieldManager(h backup.Header) string {
	sum := sha256.Sum256([]byte(h.Server + "\n" + h.Digest + "\n" + h.Started.UTC().String()))
	return "kubectl-gc-restore-" + hex.EncodeToString(sum[:8])
}

// RecordCreated implements recreate.Recorder. If the journal cannot be written, another restoration
// recognises the object by its field manager.
func (r *restoreRun) RecordCreated(o object.Identity, uid types.UID) error {
	r.mu.Lock()
	r.created[o.UID] = uid
	r.mu.Unlock()
	return r.record(backup.Restored{
		Action: string(plan.ActionCreate), Object: o, UID: uid, Status: string(event.Done), Time: r.flags.options.Scan.Now().UTC(),
	})
}

// recordResults returns an observer that records the results of steps for which Made is not
// called, and passes every event on.
func (r *restoreRun) recordResults(next func(event.Event)) func(event.Event) {
	return func(e event.Event) {
		if e.Event == event.Ended && (e.Action != string(plan.ActionCreate) || e.Status != event.Done) {
			_ = r.record(backup.Restored{ // record reports the error
				Action: e.Action, Object: *e.Object, Status: string(e.Status), Stored: reason.StoreOptional(e.Reason), Time: r.flags.options.Scan.Now().UTC(),
			})
		}
		next(e)
	}
}

func (r *restoreRun) record(result backup.Restored) error {
	err := r.journal.Add(result)
	if err != nil {
		r.op.RecordFailure(cli.StopsRun, err)
	}
	return err
}

// closeJournal closes the journal, if it is open.
func (r *restoreRun) closeJournal() error {
	if r.journal == nil {
		return nil
	}
	err := r.journal.Close()
	r.journal = nil
	return err
}

// close closes the journal if the restoration did not run.
func (r *restoreRun) close() {
	if err := r.closeJournal(); err != nil {
		fmt.Fprintf(r.flags.options.Scan.Err, "warning: close the journal of the restoration: %s\n", escape.Short(err.Error(), 2000))
	}
}
