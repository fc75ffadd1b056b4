package backup

import (
	"errors"
	"io/fs"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Restored is what a restoration made of an object, or why it did not: a line of
// restored.jsonl. Action and status are words of the plan and of its execution.
type Restored struct {
	Action string          `json:"action"`
	Object object.Identity `json:"object"`        // as it was
	UID    types.UID       `json:"uid,omitempty"` // of what was made of it
	Status string          `json:"status"`
	*reason.Stored
	Time time.Time `json:"time,omitzero"`
}

// check says what is wrong with a line that was read.
func (r Restored) check() error {
	switch {
	case r.Action == "" || r.Status == "":
		return errors.New("it lacks an action or a status")
	case nameless(r.Object):
		return errors.New("it lacks the object's apiVersion, kind, name or uid")
	}
	return nil
}

// readRestored reads what earlier restorations noted. There may have been none.
func (b *Backup) readRestored() error {
	torn, err := readLines(b.root, restoredFile, func(_ int, r Restored) error {
		b.Restored = append(b.Restored, r)
		return r.check()
	})
	b.Torn = append(b.Torn, torn...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
