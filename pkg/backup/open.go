package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

// Backup is a folder that was read. Its methods are safe for concurrent use.
type Backup struct {
	Header  Header
	Entries []event.Saved  // the latest of each UID, sorted by identity
	Steps   []event.Step   // in the order of the plan
	Results []event.Record // in the order in which steps ended
	// Restored is what restorations of this backup recorded.
	Restored []event.Record
	// Truncated is what an interrupted run did not write completely. None of it is in
	// Entries, Steps, Results or Restored. If a file was shortened later, Entries has the latest
	// complete manifest of each UID.
	Truncated []Truncated

	path    string
	root    *os.Root
	objects *os.File // locked, so that Prune keeps the folder
}

// Open reads the folder of a run, even of an interrupted one, without its manifests.
// The caller closes the Backup.
//
// Damage that an interruption does not explain is an error with the file and line.
func Open(path string) (*Backup, error) {
	b, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open backup %s: %w", path, err)
	}
	return b, nil
}

func open(path string) (*Backup, error) {
	// Opening a pipe would block. The permissions are checked after opening, because
	// the path may point elsewhere by then.
	if info, err := os.Stat(path); err != nil {
		return nil, withoutPath(err)
	} else if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	b := &Backup{path: path, root: root}
	if err := b.read(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// read reads the open folder.
func (b *Backup) read() error {
	if err := checkFolder(b.root); err != nil {
		return err
	}
	switch err := b.readHeader(); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it is not a backup: %s: %w", indexFile, err)
	case err != nil:
		return fmt.Errorf("%s: %w", indexFile, err)
	}
	if err := b.openObjects(); err != nil {
		return fmt.Errorf("%s: %w", objectsFile, err)
	}
	if err := b.readEntries(); err != nil {
		return err
	}
	if err := readLines(b, stepsFile, validateStep, appendTo(&b.Steps)); err != nil {
		return err
	}
	if err := readLines(b, doneFile, validateResult, appendTo(&b.Results)); err != nil {
		return err
	}
	if err := readLines(b, restoredFile, validateRestored, appendTo(&b.Restored)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// appendTo returns a function for readLines that appends what it reads to a slice.
func appendTo[T any](into *[]T) func(line, T) (skip int64, err error) {
	return func(_ line, v T) (int64, error) {
		*into = append(*into, v)
		return 0, nil
	}
}

// openObjects makes Prune keep the folder as long as the Backup is open.
func (b *Backup) openObjects() (err error) {
	if b.objects, _, err = openRegular(b.root, objectsFile, os.O_RDONLY); err != nil {
		return err
	}
	if err := lockShared(b.objects); err != nil {
		return fmt.Errorf("it is being removed, or cannot be locked: %w", err)
	}
	return nil
}

// Close closes the folder. Manifests cannot be read afterwards.
func (b *Backup) Close() error {
	if b.objects == nil {
		return b.root.Close()
	}
	return errors.Join(b.objects.Close(), b.root.Close())
}

func (b *Backup) readHeader() error {
	data, err := readFile(b.root, indexFile, maxLine)
	if err != nil {
		return err
	}
	var i index
	if err := utiljson.Unmarshal(data, &i); err != nil {
		return fmt.Errorf("malformed JSON: %w", err)
	}
	group, version, _ := strings.Cut(i.APIVersion, "/")
	ourGroup, _, _ := strings.Cut(APIVersion, "/")
	switch {
	case group != ourGroup || i.Kind != Kind:
		return fmt.Errorf("it holds a %q of %q, not a backup", i.Kind, i.APIVersion)
	case i.APIVersion != APIVersion:
		return fmt.Errorf("the backup has format %q, newer than this version of the tool reads (%s): update it", version, APIVersion)
	}
	b.Header = i.Header
	return nil
}

// readEntries reads objects.jsonl. It does not keep the manifests, nor verify them.
func (b *Backup) readEntries() error {
	latest := map[types.UID]int{}
	var manifest []byte
	err := readLines(b, objectsFile, validateSaved, func(at line, e event.Saved) (skip int64, err error) {
		e.Offset = at.end
		if e.Offset+e.Length > at.size {
			b.Truncated = append(b.Truncated, Truncated{objectsFile, at.number, fmt.Sprintf("the file ends before the end of the manifest of %q", e.Object.String())})
			return at.size, nil
		}
		manifest = slices.Grow(manifest[:0], int(e.Length))[:e.Length]
		if _, err := b.objects.ReadAt(manifest, e.Offset); err != nil {
			return 0, withoutPath(err)
		}
		if bytes.IndexByte(manifest, 0) >= 0 {
			b.Truncated = append(b.Truncated, Truncated{objectsFile, at.number, fmt.Sprintf("the manifest of %q contains zero bytes, as after a power failure", e.Object.String())})
			return e.Length + 1, nil
		}
		if i, ok := latest[e.Object.UID]; ok {
			b.Entries[i] = e
		} else {
			latest[e.Object.UID] = len(b.Entries)
			b.Entries = append(b.Entries, e)
		}
		return e.Length + 1, nil
	})
	slices.SortFunc(b.Entries, func(x, y event.Saved) int { return x.Object.Compare(y.Object) })
	return err
}

// Manifest reads the manifest of an entry. It fails unless the bytes have the entry's
// sha256 and the manifest has the entry's identity and resourceVersion.
func (b *Backup) Manifest(e event.Saved) (json.RawMessage, error) {
	data, err := b.manifest(e)
	if err != nil {
		return nil, fmt.Errorf("read manifest of %q from %s in %s: %w", e.Object.String(), objectsFile, b.path, err)
	}
	return data, nil
}

func (b *Backup) manifest(e event.Saved) (json.RawMessage, error) {
	if err := validateSaved(e); err != nil {
		return nil, err
	}
	data := make([]byte, e.Length)
	if _, err := b.objects.ReadAt(data, e.Offset); errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, withoutPath(err)
	}
	if sum := sha256.Sum256(data); !strings.EqualFold(hex.EncodeToString(sum[:]), e.SHA256) {
		return nil, errors.New("it is damaged: its sha256 is not the recorded one")
	}
	id, version, err := identify(data)
	if err == nil {
		err = checkIdentity(id, e.Object, version, e.ResourceVersion)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
