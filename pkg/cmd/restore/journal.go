package restore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/recreate"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/restore"
)

// read takes from the folder what a restoration is planned by, and warns of what
// the folder lacks.
func (r *restoreRun) read() {
	for _, torn := range r.saved.Torn {
		fmt.Fprintf(r.flags.options.Scan.Err, "warning: the backup is truncated: %s\n", escape.Short(torn.String(), 2000))
	}
	entries := make(map[types.UID]backup.Entry, len(r.saved.Entries))
	in := restore.Backup{Made: map[types.UID]types.UID{}}
	for _, e := range r.saved.Entries {
		entries[e.Object.UID] = e
		in.Saved = append(in.Saved, restore.Saved{Object: e.Object, ResourceVersion: e.ResourceVersion, SHA256: e.SHA256})
	}
	for _, d := range r.saved.Done {
		in.Ended = append(in.Ended, restore.Ended{Step: d.Step, Object: d.Object.UID, Action: d.Action, Status: event.Status(d.Status)})
	}
	for _, made := range r.saved.Restored {
		if made.UID != "" {
			in.Made[made.Object.UID] = made.UID
		}
	}
	in.Manifest = func(s restore.Saved) (json.RawMessage, error) { return r.saved.Manifest(entries[s.Object.UID]) }
	encoded, err := r.saved.Plan()
	if err == nil && encoded != nil {
		in.Plan, err = plan.Load(bytes.NewReader(encoded))
	}
	if err != nil || encoded == nil {
		if err == nil {
			err = fmt.Errorf("the backup has none")
		}
		fmt.Fprintf(r.flags.options.Scan.Err, "warning: cannot read the plan of the run, so references that it removed from existing objects are not restored: %s\n", escape.Short(err.Error(), 2000))
	}
	r.input, r.options = in, restore.Options{Exact: r.flags.exact}
	r.maker = makerOf(r.saved.Header)
}

// makerOf is the name under which a backup is restored: the same each time, and
// that of no other.
func makerOf(h backup.Header) string {
	sum := sha256.Sum256([]byte(h.Server + "\n" + h.Digest + "\n" + h.Started.UTC().String()))
	return "kubectl-gc-restore-" + hex.EncodeToString(sum[:8])
}

// Made is recreate.Recorder. An object that is not noted is not lost: a restoration that is
// run again recognises it by the field manager in its metadata (see recognise).
func (r *restoreRun) Made(of object.Identity, uid types.UID) error {
	r.mu.Lock()
	r.made[of.UID] = uid
	r.mu.Unlock()
	return r.noteInJournal(backup.Restored{
		Action: string(plan.Create), Object: of, UID: uid, Status: string(event.Done), Time: r.flags.options.Scan.Now().UTC(),
	})
}

var _ recreate.Recorder = (*restoreRun)(nil)

// noting passes events on, and notes how steps ended of which Made was not told.
func (r *restoreRun) noting(tell func(event.Event)) func(event.Event) {
	return func(e event.Event) {
		if e.Event == event.Ended && (e.Action != string(plan.Create) || e.Status != event.Done) {
			_ = r.noteInJournal(backup.Restored{ // cannotRecord knows
				Action: e.Action, Object: *e.Object, Status: string(e.Status), Stored: reason.StoreOptional(e.Reason), Time: r.flags.options.Scan.Now().UTC(),
			})
		}
		tell(e)
	}
}

func (r *restoreRun) noteInJournal(what backup.Restored) error {
	err := r.journal.Note(what)
	if err != nil {
		r.cannotRecord(err)
	}
	return err
}

// closeJournal closes the journal, if there is one that is open.
func (r *restoreRun) closeJournal() error {
	if r.journal == nil {
		return nil
	}
	err := r.journal.Close()
	r.journal = nil
	return err
}

// close closes the journal of a restoration that did nothing.
func (r *restoreRun) close() {
	if err := r.closeJournal(); err != nil {
		fmt.Fprintf(r.flags.options.Scan.Err, "warning: close the journal of the restoration: %s\n", escape.Short(err.Error(), 2000))
	}
}
