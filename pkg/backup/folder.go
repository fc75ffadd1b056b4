package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

// Folder is a backup that is being written. Its methods are safe for concurrent use, Finish once.
//
// Its records are in the order of the calls. Once something could not be written, nothing more is written, and every
// later call returns the same error.
type Folder struct {
	// Shares limits what is saved of each namespace. It is set before the first Save; nil means no limit.
	Shares *Shares

	path    string
	root    *os.Root
	records recordFile
	closed  atomic.Bool
}

// Create creates the folder of a run below root: root/name or, if that exists,
// root/name-2, -3 and so on. It creates root if it is missing; name must be a single
// path element. The folder is durable when Create returns, and removed after an error.
// disk carries out all changes until Close.
func Create(root, name string, h Header, disk Disk) (*Folder, error) {
	if !filepath.IsLocal(name) || name == "." || filepath.Base(name) != name {
		return nil, fmt.Errorf("make backup folder: %q is not a valid folder name", name)
	}
	if err := disk.mkdirAll(root); err != nil {
		return nil, fmt.Errorf("make backup folder: %w", err)
	}
	parent, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("make backup folder in %s: %w", root, withoutPath(err))
	}
	defer parent.Close() // nothing is written to it
	path, created := "", name
	for n := 2; ; n++ {
		path = filepath.Join(root, created)
		err = disk.carryOut(DiskChange{Op: MakeFolder, Path: path}, func() error { return parent.Mkdir(created, dirMode) })
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		created = fmt.Sprintf("%s-%d", name, n)
	}
	if err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, withoutPath(err))
	}
	f := &Folder{path: path}
	if err := f.begin(parent, created, h, disk); err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, errors.Join(err, disk.remove(parent, created)))
	}
	return f, nil
}

// begin opens a new folder, and writes its header. After an error, it is empty again.
func (f *Folder) begin(parent *os.Root, name string, h Header, disk Disk) (err error) {
	if f.root, err = openCreated(parent, name); err != nil {
		return err
	}
	if f.records.file, err = disk.create(f.root, RecordsFile); err != nil {
		return errors.Join(err, f.root.Close())
	}
	err = cmp.Or(
		f.records.addNow(record{APIVersion: APIVersion, Header: &h}), f.Sync(),
		disk.syncRoot(f.root), disk.syncRoot(parent),
	)
	if err != nil {
		return errors.Join(err, f.records.close(), disk.remove(f.root, RecordsFile), f.root.Close())
	}
	return nil
}

// openCreated opens a folder that was just created. A process that may write to the
// parent folder may have replaced it, so the opened folder must be empty and not
// writable by others. From then on no other user can put a file into it, whatever its
// path becomes.
func openCreated(parent *os.Root, name string) (*os.Root, error) {
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	err = checkFolder(root)
	if err == nil {
		var found []fs.DirEntry
		if found, err = fs.ReadDir(root.FS(), "."); err == nil && len(found) > 0 {
			err = errors.New("another process replaced it: it is not empty")
		}
	}
	if err != nil {
		return nil, errors.Join(withoutPath(err), root.Close())
	}
	return root, nil
}

// Path returns the path of the folder, which Open takes.
func (f *Folder) Path() string { return f.path }

// SaveSteps durably stores the steps of the plan, before the first one is carried out. They are saved even if
// a share is used up. Call it once.
func (f *Folder) SaveSteps(steps iter.Seq[event.Step]) error {
	for s := range steps {
		line, err := encode(record{Step: &s})
		if err == nil {
			err = f.records.add(line, flushSize)
		}
		if err != nil {
			return fmt.Errorf("save step %q to %s: %w", s.ID, f.path, err)
		}
		_ = f.Shares.Take(s.Object.InNamespace(), len(line)) // it remembers which are full
	}
	return f.Sync()
}

// AddResult records how a step ended. The operating system has the line when the
// method returns, so a kill does not lose it; it is durable after the next Sync.
func (f *Folder) AddResult(r event.Record) error { return f.records.addNow(record{Result: &r}) }

// Sync makes everything durable that was saved before the call.
func (f *Folder) Sync() error {
	return f.records.unlessFailed(func() error {
		if err := f.records.sync(); err != nil {
			return err
		}
		ours, err := f.records.file.Stat()
		if err != nil {
			return err
		}
		switch found, err := f.root.Lstat(RecordsFile); {
		case err != nil:
			return err
		case !os.SameFile(ours, found):
			return errors.New("another process replaced it")
		case found.Size() != f.records.written:
			return fmt.Errorf("it has %d bytes, but %d were written: another process changed it", found.Size(), f.records.written)
		}
		return nil
	})
}

// Finish records when the run finished, and makes everything durable. It does not
// close the folder.
func (f *Folder) Finish(at time.Time) error {
	return cmp.Or(f.records.addNow(record{Finished: at}), f.Sync())
}

// Close makes everything durable and closes the files. It returns an earlier error of
// Sync, too. A second Close does nothing.
func (f *Folder) Close() error {
	if !f.closed.CompareAndSwap(false, true) {
		return nil
	}
	return errors.Join(f.Sync(), f.records.close(), f.root.Close())
}
