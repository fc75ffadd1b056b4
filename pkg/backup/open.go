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
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Backup is a folder that was read. Its methods are safe for concurrent use; the
// fields are the caller's.
type Backup struct {
	Header  Header
	Entries []Entry  // the latest of each UID, in the order of their identities
	Done    []Result // in the order in which they were noted
	// Restored is what restorations of this backup have noted, in their order.
	Restored []Restored
	// Torn is what a run that was cut off left behind: for a run that is whole it
	// is empty. Nothing that is torn is among Entries and Done. Where a file was
	// shortened afterwards, the latest manifest of a UID that is still whole is.
	Torn []Truncated

	path string
	root *os.Root
}

// Open reads a folder that Create made, of a run that ended in whatever way. It
// reads no manifest yet. The caller closes what it answers.
//
// Damage that no cut-off run leaves is an error, which names the file and the
// line.
func Open(path string) (*Backup, error) {
	b, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open backup %s: %w", path, err)
	}
	return b, nil
}

func open(path string) (*Backup, error) {
	// A pipe of that name would be waited for. Whose folder it is, is asked of what was
	// opened: the path may lead elsewhere by then.
	if info, err := os.Stat(path); err != nil {
		return nil, cause(err)
	} else if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, cause(err)
	}
	b, err := readFolder(root, path)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return b, nil
}

// readFolder reads a folder that is open. The path is for errors only.
func readFolder(root *os.Root, path string) (*Backup, error) {
	if err := checkFolder(root); err != nil {
		return nil, err
	}
	b := &Backup{path: path, root: root}
	return b, b.read()
}

// Close lets go of the folder, after which no manifest can be read.
func (b *Backup) Close() error { return b.root.Close() }

func (b *Backup) read() error {
	if err := b.readHeader(); err != nil {
		return fmt.Errorf("%s: %w", indexFile, err)
	}
	ends, err := b.readEntries()
	if err != nil {
		return err
	}
	if err := b.readRest(ends); err != nil {
		return err
	}
	torn, err := readLines(b.root, doneFile, func(_ int, r Result) error {
		b.Done = append(b.Done, r)
		return r.check()
	})
	b.Torn = append(b.Torn, torn...)
	if err != nil {
		return err
	}
	return b.readRestored()
}

func (b *Backup) readHeader() error {
	data, err := readWhole(b.root, indexFile, limit)
	if err != nil {
		return err
	}
	var i index
	if err := utiljson.Unmarshal(data, &i); err != nil {
		return fmt.Errorf("malformed JSON: %w", err)
	}
	group, version, _ := strings.Cut(i.APIVersion, "/")
	ours, _, _ := strings.Cut(APIVersion, "/")
	switch {
	case group != ours || i.Kind != Kind:
		return fmt.Errorf("it holds a %q of %q, not a backup", i.Kind, i.APIVersion)
	case i.APIVersion != APIVersion:
		return fmt.Errorf("the backup has format %q, newer than this version of the program reads (%s): update it", version, APIVersion)
	}
	b.Header = i.Header
	return nil
}

// readEntries answers where in each file the manifests that are named end.
func (b *Backup) readEntries() (ends map[string]int64, err error) {
	ends, sizes := map[string]int64{}, map[string]int64{}
	latest := map[types.UID]int{}
	torn, err := readLines(b.root, objectsFile, func(n int, e Entry) error {
		if err := e.check(); err != nil {
			return err
		}
		size, known := sizes[e.File]
		if !known {
			var err error
			if size, err = sizeOf(b.root, e.File); err != nil {
				return fmt.Errorf("%s: %w", where(e.File, 0), err)
			}
			sizes[e.File] = size
		}
		end := e.Offset + e.Length
		ends[e.File] = max(ends[e.File], end)
		if end > size {
			b.Torn = append(b.Torn, Truncated{objectsFile, n, fmt.Sprintf("%s ends before the manifest of %q that the line names", where(e.File, 0), e.Object.String())})
			return nil
		}
		if at, again := latest[e.Object.UID]; again {
			b.Entries[at] = e
			return nil
		}
		latest[e.Object.UID] = len(b.Entries)
		b.Entries = append(b.Entries, e)
		return nil
	})
	slices.SortFunc(b.Entries, func(x, y Entry) int { return object.Identity.Compare(x.Object, y.Object) })
	b.Torn = append(b.Torn, torn...)
	return ends, err
}

// readRest looks for manifests that no line names: a run was cut off between the
// two, or lines are lost.
func (b *Backup) readRest(ends map[string]int64) error {
	files, err := fs.ReadDir(b.root.FS(), ".")
	if err != nil {
		return cause(err)
	}
	for _, f := range files {
		if !f.Type().IsRegular() || !holdsManifests(f.Name()) {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return fmt.Errorf("%s: %w", where(f.Name(), 0), cause(err))
		}
		if rest := info.Size() - ends[f.Name()]; rest > 1 { // the line break
			b.Torn = append(b.Torn, Truncated{f.Name(), 0, fmt.Sprintf("no line of %s names its last %d bytes", objectsFile, rest)})
		}
	}
	return nil
}

// Plan is the plan as it was given to SavePlan, or nil where none was.
func (b *Backup) Plan() (json.RawMessage, error) {
	data, err := readWhole(b.root, planFile, planLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !json.Valid(data) {
		err = errors.New("malformed JSON")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(b.path, planFile), err)
	}
	return data, nil
}

// Manifest reads what was saved of an entry's object. It is the very bytes that
// the entry has the sha256 of, and the manifest of the object and the
// resourceVersion that the entry names, or else an error.
func (b *Backup) Manifest(e Entry) (json.RawMessage, error) {
	data, err := b.manifest(e)
	if err != nil {
		return nil, fmt.Errorf("read manifest of %q from %s in %s: %w", e.Object.String(), where(e.File, 0), b.path, err)
	}
	return data, nil
}

func (b *Backup) manifest(e Entry) (json.RawMessage, error) {
	if err := e.check(); err != nil {
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
		return nil, cause(err)
	}
	if sum := sha256.Sum256(data); !strings.EqualFold(hex.EncodeToString(sum[:]), e.SHA256) {
		return nil, errors.New("it is damaged: the bytes there have another sha256")
	}
	of, version, err := identify(data)
	if err == nil {
		err = compare(of, e.Object, version, e.ResourceVersion)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
