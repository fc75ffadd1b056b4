package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

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
// than 16 MiB. It concerns only this object, unless a write has failed before.
func (f *Folder) Save(o object.Object, manifest json.RawMessage) error {
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
	full, err := f.add(id, version, line)
	if err != nil || !full {
		return err
	}
	return f.Sync()
}

// add adds the lines of a manifest to those that the next Sync writes, and reports whether they should be written.
func (f *Folder) add(id object.Identity, version string, manifest []byte) (full bool, err error) {
	sum := sha256.Sum256(manifest)
	entry, err := encodeLine(Entry{
		Object: id, ResourceVersion: version, Length: int64(len(manifest)), SHA256: hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return false, fmt.Errorf("its entry: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return false, f.err
	}
	f.pending = append(append(append(f.pending, entry...), manifest...), '\n')
	return len(f.pending) >= flushSize, nil
}

// Sync makes everything durable that was saved before the call. Concurrent callers
// share a write.
//
// An error is final: nothing that was saved since the last Sync is safe, and nothing
// more can be saved.
func (f *Folder) Sync() error {
	f.diskMu.Lock()
	defer f.diskMu.Unlock()
	f.mu.Lock()
	if f.err != nil || len(f.pending) == 0 {
		defer f.mu.Unlock()
		return f.err
	}
	taken := f.pending
	f.pending = nil
	f.mu.Unlock()

	err := f.write(taken)
	if err != nil {
		err = f.fileError("save manifests to", objectsFile, err)
		f.mu.Lock()
		f.err = err
		f.mu.Unlock()
	}
	return err
}

func (f *Folder) write(lines []byte) error {
	n, err := f.objects.Write(lines)
	f.written += int64(n)
	if err == nil {
		err = f.objects.Sync()
	}
	if err != nil {
		return err
	}
	ours, err := f.objects.Stat()
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
