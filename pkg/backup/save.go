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

// enough is how many bytes are kept in memory before Save writes them itself.
const enough = 8 << 20

// file holds the manifests of one type.
type file struct {
	name    string
	written int64  // bytes in the file
	pending []byte // what comes behind them
}

// batch is what one Sync writes.
type batch struct {
	files []*file // those with something pending, in the order in which they got it
	lines []byte  // of objects.jsonl
	size  int     // bytes pending
}

// Save takes the complete manifest of an object, as its server sent it, to be
// written by the next Sync; until that returned nil the manifest is not safe. An
// object that has changed is saved again: of one UID the latest counts.
//
// The object says which one it should be, and in which resourceVersion. Its
// apiVersion and kind do not count: one UID can be served under two names, and
// what is kept is the manifest's own. An error says that the manifest is not of
// that object, is no JSON or is longer than 16 MiB, and is about this object
// alone. That nothing can be saved any more is said by Sync.
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
	of, version, err := identify(line)
	if err != nil {
		return err
	}
	if nameless(of) {
		return errors.New("the manifest lacks its apiVersion, kind, name or uid")
	}
	want := o.Identity
	want.APIVersion, want.Kind = of.APIVersion, of.Kind
	if err := compare(of, want, version, o.ResourceVersion); err != nil {
		return err
	}
	full, err := f.add(of, version, line)
	if err != nil || !full {
		return err
	}
	return f.Sync()
}

// add puts a manifest into the batch and says whether that is large by now.
func (f *Folder) add(of object.Identity, version string, line []byte) (full bool, err error) {
	sum := sha256.Sum256(line)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return false, f.err
	}
	to := f.file(of.GroupVersionKind().GroupKind())
	entry, err := encode(Entry{
		Object: of, ResourceVersion: version,
		File: to.name, Offset: to.written + int64(len(to.pending)), Length: int64(len(line)),
		SHA256: hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return false, err
	}
	if len(entry) > limit {
		return false, fmt.Errorf("its name is longer than the %d bytes that a backup takes", limit)
	}
	if len(to.pending) == 0 {
		f.batch.files = append(f.batch.files, to)
	}
	to.pending = append(append(to.pending, line...), '\n')
	f.batch.lines = append(append(f.batch.lines, entry...), '\n')
	f.batch.size += len(line) + len(entry) + 2
	return f.batch.size >= enough, nil
}

// file is that of a type. Two types whose names come out equal, if only on a
// file system that does not tell capitals apart, get different ones.
func (f *Folder) file(k schema.GroupKind) *file {
	if known := f.files[k]; known != nil {
		return known
	}
	stem := k.Kind
	if k.Group != "" {
		stem += "." + k.Group
	}
	stem = cut(spell(stem))
	name := stem + ending
	for n := 2; f.names[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d%s", stem, n, ending)
	}
	f.names[strings.ToLower(name)] = true
	f.files[k] = &file{name: name}
	return f.files[k]
}

// Sync makes everything durable that was saved before the call: manifests first,
// then the lines that name them. Many callers at once share what it costs, which
// is a write per type and one for the index, however many objects there are.
//
// An error is final: nothing that was saved since the last Sync is safe, and
// nothing more can be saved.
func (f *Folder) Sync() error {
	f.disk.Lock()
	defer f.disk.Unlock()
	f.mu.Lock()
	if f.err != nil || len(f.batch.files) == 0 {
		defer f.mu.Unlock()
		return f.err
	}
	// The files stay with the folder, where others put more into them meanwhile.
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
	fresh := false
	for i, to := range taken.files {
		at := to.written - int64(len(pending[i]))
		if err := f.extend(to.name, at, pending[i]); err != nil {
			return f.failed("save manifests to", to.name, err)
		}
		fresh = fresh || at == 0
	}
	if fresh {
		if err := syncRoot(f.root); err != nil {
			return err
		}
	}
	_, err := f.objects.Write(taken.lines)
	if err == nil {
		err = f.objects.Sync()
	}
	if err != nil {
		return f.failed("save the index to", objectsFile, err)
	}
	return nil
}

// extend writes and syncs behind the bytes that a file has. It keeps no file
// open, since there may be more types than a process may have files.
func (f *Folder) extend(name string, at int64, data []byte) error {
	flags := os.O_WRONLY | os.O_APPEND
	if at == 0 {
		flags |= os.O_CREATE | os.O_EXCL
	}
	to, err := f.root.OpenFile(name, flags, ownerOnlyFile)
	if err != nil {
		return cause(err)
	}
	info, err := to.Stat()
	if err == nil && info.Size() != at {
		err = fmt.Errorf("it has %d bytes where %d were written: somebody else changed it", info.Size(), at)
	}
	if err != nil {
		return errors.Join(cause(err), to.Close())
	}
	return finish(to, data)
}
