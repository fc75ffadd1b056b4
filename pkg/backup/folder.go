package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Folder is a backup that is being written. All its methods are safe for
// concurrent use.
//
// Once a manifest could not be written, nothing more is saved: the disk may hold
// anything, so every later Save and Sync answers the same error.
type Folder struct {
	path string
	root *os.Root

	// disk is held while manifests or the index are written, so that others can
	// save meanwhile and share the next write. It is taken before mu.
	disk    sync.Mutex
	header  Header
	objects *os.File

	mu    sync.Mutex // never held while the disk is waited for
	files map[schema.GroupKind]*file
	names map[string]bool // of files, in small letters
	batch batch           // what is saved and not yet written
	err   error           // the first that a write met, or that it is closed

	log    sync.Mutex
	done   *os.File
	logErr error // the first that a line met: what follows half a line would be unreadable
}

// errClosed is what a folder answers after Close.
var errClosed = fmt.Errorf("write backup: %w", os.ErrClosed)

// Create makes a fresh folder for one run below root, which is made where it is
// missing: root/name or, where that exists, root/name-2, -3 and so on. The name
// is one element of a path. What is in the folder from the start is durable when
// Create returns; after an error there is no folder.
func Create(root, name string, h Header) (*Folder, error) {
	if !single(name) {
		return nil, fmt.Errorf("make backup folder: %q is no name of a folder", name)
	}
	if err := makeAll(root); err != nil {
		return nil, fmt.Errorf("make backup folder: %w", err)
	}
	parent, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("make backup folder in %s: %w", root, cause(err))
	}
	defer parent.Close() // nothing is written to it
	made := name
	err = parent.Mkdir(made, ownerOnlyFolder)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		made = fmt.Sprintf("%s-%d", name, n)
		err = parent.Mkdir(made, ownerOnlyFolder)
	}
	path := filepath.Join(root, made)
	if err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, cause(err))
	}
	f := &Folder{
		path: path, header: h,
		files: map[schema.GroupKind]*file{},
		names: map[string]bool{indexFile: true, planFile: true},
	}
	if err := f.fill(parent, made); err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, errors.Join(err, f.shut(), parent.Remove(made)))
	}
	return f, nil
}

// fill opens a folder that was just made, and makes what it holds from the start, the
// header last. After an error the folder is empty, if it is the one that was made.
func (f *Folder) fill(parent *os.Root, name string) (err error) {
	if f.root, err = openMade(parent, name); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.shutFiles())
			for _, file := range []string{objectsFile, doneFile, indexFile, indexFile + temporary} {
				_ = f.root.Remove(file) // there may be none
			}
		}
	}()
	if f.objects, err = f.create(objectsFile); err != nil {
		return err
	}
	if f.done, err = f.create(doneFile); err != nil {
		return err
	}
	if err := f.writeHeader(); err != nil {
		return err
	}
	return syncRoot(parent)
}

// openMade opens a folder that was just made. Who may write to its parent may have put
// another in its place. So what was opened is checked: it must be empty, and a folder to
// which nobody else may write. From then on nobody else can put anything into it,
// whatever its path comes to mean.
func openMade(parent *os.Root, name string) (*os.Root, error) {
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, cause(err)
	}
	err = checkFolder(root)
	if err == nil {
		var found []fs.DirEntry
		if found, err = fs.ReadDir(root.FS(), "."); err == nil && len(found) > 0 {
			err = errors.New("somebody else put another in its place: it is not empty")
		}
	}
	if err != nil {
		return nil, errors.Join(cause(err), root.Close())
	}
	return root, nil
}

func (f *Folder) create(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, ownerOnlyFile)
	if err != nil {
		return nil, f.failed("create", name, err)
	}
	return file, nil
}

func (f *Folder) writeHeader() error {
	data, err := json.MarshalIndent(index{APIVersion: APIVersion, Kind: Kind, Header: f.header}, "", "  ")
	if err != nil {
		return f.failed("write", indexFile, err)
	}
	return f.replace(indexFile, append(escape.JSON(data), '\n'))
}

// Path is where the folder is: what Open takes.
func (f *Folder) Path() string { return f.path }

// SavePlan keeps the encoded plan as it is, in the place of an earlier one. It
// is durable when SavePlan returns.
func (f *Folder) SavePlan(encoded []byte) error {
	f.disk.Lock()
	defer f.disk.Unlock()
	if err := f.broken(); err != nil {
		return err
	}
	if len(encoded) > planLimit {
		return f.failed("write", planFile, fmt.Errorf("%d bytes are more than the %d that a backup takes", len(encoded), planLimit))
	}
	return f.replace(planFile, encoded)
}

// Finish notes that the run came to its end, after everything that was saved and
// done is durable. The folder is still to be closed.
func (f *Folder) Finish(at time.Time) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.syncDone(); err != nil {
		return err
	}
	f.disk.Lock()
	defer f.disk.Unlock()
	if err := f.broken(); err != nil {
		return err
	}
	f.header.Finished = at
	return f.writeHeader()
}

// Close makes durable what was saved and done, and lets go of the files. It
// answers an error that Sync answered before, too. Closed again, it does nothing.
func (f *Folder) Close() error {
	err := f.Sync()
	if errors.Is(err, errClosed) {
		return nil
	}
	err = errors.Join(err, f.syncDone())
	f.disk.Lock()
	defer f.disk.Unlock()
	f.log.Lock()
	defer f.log.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(f.err, errClosed) {
		return nil
	}
	f.err, f.logErr = errClosed, errClosed
	return errors.Join(err, f.shut())
}

// shutFiles closes the files that are kept open.
func (f *Folder) shutFiles() error {
	var errs []error
	for _, file := range []**os.File{&f.objects, &f.done} {
		if *file != nil {
			errs = append(errs, (*file).Close())
			*file = nil
		}
	}
	return errors.Join(errs...)
}

func (f *Folder) shut() error {
	errs := []error{f.shutFiles()}
	if f.root != nil {
		errs = append(errs, f.root.Close())
	}
	return errors.Join(errs...)
}

// broken is why nothing more can be saved, or nil.
func (f *Folder) broken() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
