package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// flushSize is the number of pending bytes from which Save writes them itself.
const flushSize = 8 << 20

// Save adds the complete manifest of an object, as the API server sent it, to what the
// next Sync writes; it is not safe until that Sync returns nil. A changed object can be
// saved again: the latest manifest of a UID counts.
//
// The manifest must have the identity and resourceVersion of the object, except for
// apiVersion and kind: one UID can be served under two of them, and those of the
// manifest are stored. An error also means that the manifest is not JSON or longer
// than 16 MiB, or ErrShareUsed. It concerns only this object, unless a write has failed before.
func (f *Folder) Save(o object.Object, manifest json.RawMessage) error {
	if err := f.Shares.Take(o.InNamespace(), len(manifest)); err != nil {
		return err
	}
	if err := f.save(o, manifest); err != nil {
		return fmt.Errorf("save %q to %s: %w", o.String(), f.path, err)
	}
	return nil
}

func (f *Folder) save(o object.Object, manifest json.RawMessage) error {
	line, err := compact(manifest)
	if err != nil {
		return err
	}
	id, version, err := identify(line)
	if err != nil {
		return err
	}
	if incomplete(id) {
		return errors.New("the manifest lacks its apiVersion, kind, name or uid")
	}
	want := o.Identity
	want.APIVersion, want.Kind = id.APIVersion, id.Kind
	if err := checkIdentity(id, want, version, o.ResourceVersion); err != nil {
		return err
	}
	sum := sha256.Sum256(line)
	entry, err := encodeLine(event.Saved{
		Object: id, ResourceVersion: version, Length: int64(len(line)), SHA256: hex.EncodeToString(sum[:]),
	}, validateSaved)
	if err != nil {
		return fmt.Errorf("its entry: %w", err)
	}
	return f.objects.unlessFailed(func() error {
		f.pending = append(append(append(f.pending, entry...), line...), '\n')
		if len(f.pending) < flushSize {
			return nil
		}
		return f.write()
	})
}

// Sync makes everything durable that was saved before the call.
//
// An error is final: nothing that was saved since the last Sync is safe, and nothing
// more can be saved.
func (f *Folder) Sync() error { return f.objects.unlessFailed(f.write) }

// write makes the pending lines durable. It is called in objects.unlessFailed.
func (f *Folder) write() error {
	if len(f.pending) == 0 {
		return nil
	}
	n, err := f.objects.file.Write(f.pending)
	f.pending, f.written = nil, f.written+int64(n)
	if err == nil {
		err = f.objects.file.Sync()
	}
	if err != nil {
		return err
	}
	ours, err := f.objects.file.Stat()
	if err != nil {
		return err
	}
	switch found, err := f.root.Lstat(objectsFile); {
	case err != nil:
		return err
	case !os.SameFile(ours, found):
		return errors.New("another process replaced it")
	case found.Size() != f.written:
		return fmt.Errorf("it has %d bytes, but %d were written: another process changed it", found.Size(), f.written)
	}
	return nil
}
