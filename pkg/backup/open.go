package backup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

// Backup is a folder that was read. Its methods are safe for concurrent use.
type Backup struct {
	Header   Header
	Entries  []event.Saved  // the latest of each UID, sorted by identity
	Steps    []event.Step   // in the order of the plan
	Results  []event.Record // in the order in which steps ended
	Finished time.Time      // zero if the run was interrupted or has not finished
	// Restored is what restorations of this backup recorded.
	Restored []event.Record
	// Truncated is the line that an interrupted run or restoration did not write completely, empty if there is
	// none. Nothing from there on was read. Unless the file was shortened later, Sync had not confirmed it.
	Truncated string

	path    string
	root    *os.Root
	records *os.File // locked, so that Prune keeps the folder
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
		_ = b.Close() // nothing was written to it
		return nil, err
	}
	return b, nil
}

// read reads the open folder.
func (b *Backup) read() (err error) {
	if err := checkFolder(b.root); err != nil {
		return err
	}
	if b.records, err = openRegular(b.root, RecordsFile, os.O_RDONLY); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it is not a backup: %s: %w", RecordsFile, err)
	} else if err != nil {
		return fmt.Errorf("%s: %w", RecordsFile, err)
	}
	if err := lock(b.records, true); err != nil {
		return fmt.Errorf("%s: it is being removed, or cannot be locked: %w", RecordsFile, err)
	}
	if err := b.readRecords(); err != nil {
		return err
	}
	return b.readJournal()
}

// readRecords reads the records of the run. It does not verify the manifests.
func (b *Backup) readRecords() (err error) {
	latest := map[types.UID]int{}
	begun := false
	_, b.Truncated, err = readRecords(b.records, func(r *record, _ int64) error {
		if begun == (r.Header != nil) {
			return errors.New("a backup begins with its header, and has no other")
		}
		begun = true
		switch {
		case r.Header != nil:
			b.Header = *r.Header
		case r.Step != nil:
			b.Steps = append(b.Steps, *r.Step)
		case r.Object != nil:
			if i, ok := latest[r.Object.Object.UID]; ok {
				b.Entries[i] = *r.Object
			} else {
				latest[r.Object.Object.UID] = len(b.Entries)
				b.Entries = append(b.Entries, *r.Object)
			}
		case r.Result != nil:
			b.Results = append(b.Results, *r.Result)
		default:
			b.Finished = r.Finished
		}
		return nil
	})
	if err == nil && !begun {
		err = fmt.Errorf("%s: its run was interrupted before it began", RecordsFile)
	}
	slices.SortFunc(b.Entries, func(x, y event.Saved) int { return x.Object.Compare(y.Object) })
	return err
}

// readJournal reads what restorations have recorded, if there were any.
func (b *Backup) readJournal() error {
	file, err := openRegular(b.root, restoredFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", restoredFile, err)
	}
	defer file.Close()
	_, cut, err := readRecords(file, func(r *record, _ int64) error {
		if r.Result == nil {
			return errors.New("it is not the result of a step")
		}
		b.Restored = append(b.Restored, *r.Result)
		return nil
	})
	b.Truncated = cmp.Or(b.Truncated, cut)
	return err
}

// Close closes the folder. Manifests cannot be read afterwards.
func (b *Backup) Close() error { return errors.Join(b.records.Close(), b.root.Close()) }

// Manifest reads the manifest of an entry. It fails unless the bytes have the entry's
// sha256 and the manifest has the entry's identity and resourceVersion.
func (b *Backup) Manifest(e event.Saved) (json.RawMessage, error) {
	data := make([]byte, e.Length)
	_, err := b.records.ReadAt(data, e.Offset)
	if sum := sha256.Sum256(data); err == nil && !strings.EqualFold(hex.EncodeToString(sum[:]), e.SHA256) {
		err = errors.New("it is damaged: its sha256 is not the recorded one")
	}
	var found event.Saved
	if err == nil {
		found, err = identify(data)
	}
	if err == nil {
		err = checkIdentity(found, e)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest of %q from %s in %s: %w", e.Object.String(), RecordsFile, b.path, withoutPath(err))
	}
	return data, nil
}
