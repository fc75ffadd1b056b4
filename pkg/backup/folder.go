package backup

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Folder is a backup that is being written. Its methods are safe for concurrent use, Finish once.
//
// Once a manifest could not be written, nothing more is saved, and every later Save
// and Sync returns the same error.
type Folder struct {
	// Shares limits what is saved of each namespace. It is set before the first Save; nil means no limit.
	Shares *Shares

	path    string
	disk    Disk
	root    *os.Root
	header  Header
	closed  atomic.Bool
	objects recordFile
	steps   recordFile
	results recordFile

	// Both are accessed in objects.unlessFailed.
	pending []byte // lines that are saved and not yet written
	written int64  // bytes in objects
}

// Create creates the folder of a run below root: root/name or, if that exists,
// root/name-2, -3 and so on. It creates root if it is missing; name must be a single
// path element. The folder is durable when Create returns, and removed after an error.
// disk carries out all changes until Close.
func Create(root, name string, h Header, disk Disk) (*Folder, error) {
	if !isPathElement(name) {
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
		err = disk.carryOut(Change{Op: MakeFolder, Path: path}, func() error { return parent.Mkdir(created, dirMode) })
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		created = fmt.Sprintf("%s-%d", name, n)
	}
	if err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, withoutPath(err))
	}
	f := &Folder{path: path, disk: disk, header: h}
	if err := f.initialize(parent, created); err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, errors.Join(err, f.discard(), disk.remove(parent, created)))
	}
	return f, nil
}

// initialize opens a new folder and creates its first files, the header last.
func (f *Folder) initialize(parent *os.Root, name string) (err error) {
	if f.root, err = openCreated(parent, name); err != nil {
		return err
	}
	if err := cmp.Or(
		f.create(&f.objects, objectsFile, "save manifests to"), f.create(&f.steps, stepsFile, "write"), f.create(&f.results, doneFile, "record a step in"),
		f.disk.syncRoot(f.root), // so that no power loss leaves the header without the other files
	); err != nil {
		return err
	}
	if err := f.writeHeader(); err != nil {
		return err
	}
	return f.disk.syncRoot(parent)
}

// discard removes the files of a folder that could not be initialized, and closes it.
func (f *Folder) discard() error {
	if f.root == nil {
		return nil
	}
	err := f.closeFiles()
	for _, file := range []string{indexFile, indexFile + tempSuffix, objectsFile, stepsFile, doneFile} { // a kill leaves no backup, or a whole one
		_ = f.disk.remove(f.root, file) // may not exist
	}
	return errors.Join(err, f.root.Close())
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

func (f *Folder) create(r *recordFile, name, doing string) (err error) {
	r.path, r.doing = filepath.Join(f.path, name), doing
	if r.file, err = f.disk.create(f.root, name, os.O_WRONLY|os.O_APPEND|os.O_EXCL); err != nil {
		return r.failure("create", err)
	}
	return nil
}

func (f *Folder) writeHeader() error {
	data, err := json.MarshalIndent(index{APIVersion: APIVersion, Kind: Kind, Header: f.header}, "", "  ")
	if err != nil {
		return f.fileError("write", indexFile, err)
	}
	return f.replaceFile(indexFile, append(escape.JSON(data), '\n'))
}

// Path returns the path of the folder, which Open takes.
func (f *Folder) Path() string { return f.path }

// SaveSteps durably stores the steps of the plan, before the first one is carried out. They are saved even if
// a share is used up. Call it once.
func (f *Folder) SaveSteps(steps iter.Seq[event.Step]) error {
	return f.steps.unlessFailed(func() error {
		to := bufio.NewWriter(f.steps.file)
		for s := range steps {
			line, err := encodeLine(s, validateStep)
			if err == nil {
				_, err = to.Write(line)
			}
			if err != nil {
				return err
			}
			_ = f.Shares.Take(s.Object.InNamespace(), len(line)) // it remembers which are full
		}
		return errors.Join(to.Flush(), f.steps.file.Sync())
	})
}

// AddResult records how a step ended. The operating system has the line when the
// method returns, so a kill does not lose it; it is durable after Finish or Close. Once
// a line could not be written, nothing more is recorded, and every call returns the
// same error.
func (f *Folder) AddResult(r event.Record) error { return f.results.add(r, validateResult) }

// Finish makes everything durable and then records when the run finished. It does not
// close the folder.
func (f *Folder) Finish(at time.Time) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.results.sync(); err != nil {
		return err
	}
	f.header.Finished = at
	return f.writeHeader()
}

// Close makes everything durable and closes the files. It returns an earlier error of
// Sync, too. A second Close does nothing.
func (f *Folder) Close() error {
	if !f.closed.CompareAndSwap(false, true) {
		return nil
	}
	return errors.Join(f.Sync(), f.results.sync(), f.closeFiles(), f.root.Close())
}

func (f *Folder) closeFiles() error {
	return errors.Join(f.objects.close(), f.steps.close(), f.results.close())
}
