package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// flushSize is the number of pending bytes from which Save writes them itself.
const flushSize = 8 << 20

// manifestFile has the manifests of one type.
type manifestFile struct {
	name    string
	written int64  // bytes in the file
	pending []byte // to be appended
}

// batch is what one Sync writes.
type batch struct {
	files []*manifestFile // those with pending bytes
	lines []byte          // of objects.jsonl
	size  int             // pending bytes
}

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
	full, err := f.addToBatch(id, version, line)
	if err != nil || !full {
		return err
	}
	return f.Sync()
}

// addToBatch adds a manifest to the batch and reports whether that should be written.
func (f *Folder) addToBatch(id object.Identity, version string, line []byte) (full bool, err error) {
	sum := sha256.Sum256(line)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return false, f.err
	}
	to := f.file(id.GroupVersionKind().GroupKind())
	entry, err := encode(Entry{
		Object: id, ResourceVersion: version,
		File: to.name, Offset: to.written + int64(len(to.pending)), Length: int64(len(line)),
		SHA256: hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return false, err
	}
	if len(entry) > maxLine {
		return false, fmt.Errorf("its index entry exceeds the limit of %d bytes", maxLine)
	}
	if len(to.pending) == 0 {
		f.batch.files = append(f.batch.files, to)
	}
	to.pending = append(append(to.pending, line...), '\n')
	f.batch.lines = append(append(f.batch.lines, entry...), '\n')
	f.batch.size += len(line) + len(entry) + 2
	return f.batch.size >= flushSize, nil
}

// file returns the file of a type. Types whose names differ only in case get different
// files on every file system.
func (f *Folder) file(k schema.GroupKind) *manifestFile {
	if existing := f.files[k]; existing != nil {
		return existing
	}
	stem := k.Kind
	if k.Group != "" {
		stem += "." + k.Group
	}
	stem = truncateName(encodeName(stem))
	name := stem + manifestSuffix
	for n := 2; f.names[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d%s", stem, n, manifestSuffix)
	}
	f.names[strings.ToLower(name)] = true
	f.files[k] = &manifestFile{name: name}
	return f.files[k]
}

// Sync makes everything durable that was saved before the call: manifests first, then
// the lines that name them. It writes once per type and once for the index, and
// concurrent callers share these writes.
//
// An error is final: nothing that was saved since the last Sync is safe, and nothing
// more can be saved.
func (f *Folder) Sync() error {
	f.diskMu.Lock()
	defer f.diskMu.Unlock()
	f.mu.Lock()
	if f.err != nil || len(f.batch.files) == 0 {
		defer f.mu.Unlock()
		return f.err
	}
	// Other callers may add pending bytes to the same files during the write.
	taken, pending := f.batch, make([][]byte, len(f.batch.files))
	for i, to := range taken.files {
		pending[i], to.pending = to.pending, nil
		to.written += int64(len(pending[i]))
	}
	f.batch = batch{}
	f.mu.Unlock()

	err := f.write(taken, pending)
	if err != nil {
		f.mu.Lock()
		f.err = err
		f.mu.Unlock()
	}
	return err
}

func (f *Folder) write(taken batch, pending [][]byte) error {
	created := false
	for i, to := range taken.files {
		at := to.written - int64(len(pending[i]))
		if err := f.appendTo(to.name, at, pending[i]); err != nil {
			return f.fileError("save manifests to", to.name, err)
		}
		created = created || at == 0
	}
	if created {
		if err := syncRoot(f.root); err != nil {
			return err
		}
	}
	_, err := f.objects.Write(taken.lines)
	if err == nil {
		err = f.objects.Sync()
	}
	if err != nil {
		return f.fileError("save the index to", objectsFile, err)
	}
	return nil
}

// appendTo appends to a file of a known size, and syncs it. It does not keep the file
// open, because there may be more types than a process may open files.
func (f *Folder) appendTo(name string, size int64, data []byte) error {
	flags := os.O_WRONLY | os.O_APPEND
	if size == 0 {
		flags |= os.O_CREATE | os.O_EXCL
	}
	to, err := f.root.OpenFile(name, flags, fileMode)
	if err != nil {
		return withoutPath(err)
	}
	info, err := to.Stat()
	if err == nil && info.Size() != size {
		err = fmt.Errorf("it has %d bytes, but %d were written: another process changed it", info.Size(), size)
	}
	if err != nil {
		return errors.Join(withoutPath(err), to.Close())
	}
	return writeSyncClose(to, data)
}
