package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Backup is a folder that was read. Its methods are safe for concurrent use.
type Backup struct {
	Header  Header
	Entries []Entry  // the latest of each UID, sorted by identity
	Steps   []Step   // in the order of the plan
	Results []Result // in the order in which steps ended
	// Restored is what restorations of this backup recorded.
	Restored []Restored
	// Truncated is what an interrupted run did not write completely. None of it is in
	// Entries, Steps, Results or Restored. If a file was shortened later, Entries has the latest
	// complete manifest of each UID.
	Truncated []Truncated

	path string
	root *os.Root
	used *os.File // locked, so that Prune keeps the folder
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
	if err := b.keep(); err != nil {
		return err
	}
	if err := b.readHeader(); err != nil {
		return fmt.Errorf("%s: %w", indexFile, err)
	}
	ends, err := b.readEntries()
	if err != nil {
		return err
	}
	if err := b.findUnindexed(ends); err != nil {
		return err
	}
	err = readLines(b, stepsFile, func(_, _ int, s Step) error {
		b.Steps = append(b.Steps, s)
		return nil
	})
	if err != nil {
		return err
	}
	err = readLines(b, doneFile, func(_, _ int, r Result) error {
		b.Results = append(b.Results, r)
		return nil
	})
	if err != nil {
		return err
	}
	err = readLines(b, restoredFile, func(_, _ int, r Restored) error {
		b.Restored = append(b.Restored, r)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keep makes Prune keep the folder as long as the Backup is open.
func (b *Backup) keep() error {
	file, _, err := openRegular(b.root, objectsFile, os.O_RDONLY)
	if err != nil {
		return nil //nolint:nilerr // reading it says so
	}
	if err := lockShared(file); err != nil {
		return errors.Join(fmt.Errorf("%s: it is being removed, or cannot be locked: %w", objectsFile, err), file.Close())
	}
	b.used = file
	return nil
}

// Close closes the folder. Manifests cannot be read afterwards.
func (b *Backup) Close() error {
	if b.used == nil {
		return b.root.Close()
	}
	return errors.Join(b.used.Close(), b.root.Close())
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
		return fmt.Errorf("the backup has format %q, newer than this version of the program reads (%s): update it", version, APIVersion)
	}
	b.Header = i.Header
	return nil
}

// readEntries reads objects.jsonl and returns where the last manifest in each file ends.
func (b *Backup) readEntries() (ends map[string]int64, err error) {
	ends, sizes := map[string]int64{}, map[string]int64{}
	latest := map[types.UID]int{}
	err = readLines(b, objectsFile, func(n, _ int, e Entry) error {
		size, ok := sizes[e.File]
		if !ok {
			var err error
			if size, err = fileSize(b.root, e.File); err != nil {
				return fmt.Errorf("%s: %w", position(e.File, 0), err)
			}
			sizes[e.File] = size
		}
		end := e.Offset + e.Length
		ends[e.File] = max(ends[e.File], end)
		if end > size {
			b.Truncated = append(b.Truncated, Truncated{objectsFile, n, fmt.Sprintf("%s ends before the end of the manifest of %q", position(e.File, 0), e.Object.String())})
			return nil
		}
		if i, ok := latest[e.Object.UID]; ok {
			b.Entries[i] = e
			return nil
		}
		latest[e.Object.UID] = len(b.Entries)
		b.Entries = append(b.Entries, e)
		return nil
	})
	sort.Slice(b.Entries, func(i, j int) bool { return b.Entries[i].Object.Compare(b.Entries[j].Object) < 0 })
	return ends, err
}

// findUnindexed finds manifests that no line of objects.jsonl names: the run was
// interrupted between the two writes, or lines are lost.
func (b *Backup) findUnindexed(ends map[string]int64) error {
	files, err := fs.ReadDir(b.root.FS(), ".")
	if err != nil {
		return withoutPath(err)
	}
	for _, f := range files {
		if !f.Type().IsRegular() || !isManifestFile(f.Name()) {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return fmt.Errorf("%s: %w", position(f.Name(), 0), withoutPath(err))
		}
		if rest := info.Size() - ends[f.Name()]; rest > 1 { // more than the line break
			b.Truncated = append(b.Truncated, Truncated{f.Name(), 0, fmt.Sprintf("no line of %s names its last %d bytes", objectsFile, rest)})
		}
	}
	return nil
}

// Manifest reads the manifest of an entry. It fails unless the bytes have the entry's
// sha256 and the manifest has the entry's identity and resourceVersion.
func (b *Backup) Manifest(e Entry) (json.RawMessage, error) {
	data, err := b.manifest(e)
	if err != nil {
		return nil, fmt.Errorf("read manifest of %q from %s in %s: %w", e.Object.String(), position(e.File, 0), b.path, err)
	}
	return data, nil
}

func (b *Backup) manifest(e Entry) (json.RawMessage, error) {
	if err := e.validate(); err != nil {
		return nil, err
	}
	file, info, err := openRegular(b.root, e.File, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if e.Offset+e.Length > info.Size() {
		return nil, io.ErrUnexpectedEOF
	}
	data := make([]byte, e.Length)
	if _, err := file.ReadAt(data, e.Offset); err != nil {
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
