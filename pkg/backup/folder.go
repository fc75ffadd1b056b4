package backup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// Folder is a backup that is being written. Its methods are safe for concurrent use.
//
// Once a manifest could not be written, nothing more is saved, and every later Save
// and Sync returns the same error.
type Folder struct {
	path string
	root *os.Root

	// diskMu serializes writes of manifests and the header. Callers can save meanwhile
	// and share the next write. It is locked before mu.
	diskMu  sync.Mutex
	header  Header
	objects *os.File
	written int64 // bytes in objects
	steps   *os.File

	mu      sync.Mutex // never held during a write
	pending []byte     // lines that are saved and not yet written
	err     error      // of the first failed write, or errClosed

	results recordFile
}

// errClosed is what the methods of a Folder return after Close.
var errClosed = fmt.Errorf("write backup: %w", os.ErrClosed)

// Create creates the folder of a run below root: root/name or, if that exists,
// root/name-2, -3 and so on. It creates root if it is missing; name must be a single
// path element. The folder is durable when Create returns, and removed after an error.
func Create(root, name string, h Header) (*Folder, error) {
	if !isPathElement(name) {
		return nil, fmt.Errorf("make backup folder: %q is not a valid folder name", name)
	}
	if err := mkdirAll(root); err != nil {
		return nil, fmt.Errorf("make backup folder: %w", err)
	}
	parent, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("make backup folder in %s: %w", root, withoutPath(err))
	}
	defer parent.Close() // nothing is written to it
	created := name
	err = parent.Mkdir(created, dirMode)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		created = fmt.Sprintf("%s-%d", name, n)
		err = parent.Mkdir(created, dirMode)
	}
	path := filepath.Join(root, created)
	if err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, withoutPath(err))
	}
	f := &Folder{
		path: path, header: h,
		results: recordFile{path: filepath.Join(path, doneFile), doing: "record a step in"},
	}
	if err := f.initialize(parent, created); err != nil {
		return nil, fmt.Errorf("make backup folder %s: %w", path, errors.Join(err, f.discard(), parent.Remove(created)))
	}
	return f, nil
}

// initialize opens a new folder and creates its first files, the header last.
func (f *Folder) initialize(parent *os.Root, name string) (err error) {
	if f.root, err = openCreated(parent, name); err != nil {
		return err
	}
	if f.objects, err = f.create(objectsFile); err != nil {
		return err
	}
	if f.steps, err = f.create(stepsFile); err != nil {
		return err
	}
	if f.results.file, err = f.create(doneFile); err != nil {
		return err
	}
	if err := f.writeHeader(); err != nil {
		return err
	}
	return syncRoot(parent)
}

// discard removes the files of a folder that could not be initialized, and closes it.
func (f *Folder) discard() error {
	if f.root == nil {
		return nil
	}
	err := f.closeFiles()
	for _, file := range []string{objectsFile, stepsFile, doneFile, indexFile, indexFile + tempSuffix} {
		_ = f.root.Remove(file) // may not exist
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

func (f *Folder) create(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, f.fileError("create", name, err)
	}
	return file, nil
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

// SaveSteps durably stores the steps of the plan, before the first one is carried out. size, unless nil, is called with how many
// bytes each takes. Call it once.
func (f *Folder) SaveSteps(steps iter.Seq[Step], size func(Step, int)) error {
	f.diskMu.Lock()
	defer f.diskMu.Unlock()
	if err := f.writeError(); err != nil {
		return err
	}
	to := bufio.NewWriter(f.steps)
	for s := range steps {
		line, err := encodeLine(s)
		if err == nil {
			_, err = to.Write(line)
		}
		if err != nil {
			return f.fileError("write", stepsFile, err)
		}
		if size != nil {
			size(s, len(line))
		}
	}
	if err := errors.Join(to.Flush(), f.steps.Sync()); err != nil {
		return f.fileError("write", stepsFile, err)
	}
	return nil
}

// AddResult records how a step ended. The operating system has the line when the
// method returns, so a kill does not lose it; it is durable after Finish or Close. Once
// a line could not be written, nothing more is recorded, and every call returns the
// same error.
func (f *Folder) AddResult(r Result) error { return f.results.add(r) }

// Finish makes everything durable and then records when the run finished. It does not
// close the folder.
func (f *Folder) Finish(at time.Time) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.results.sync(); err != nil {
		return err
	}
	f.diskMu.Lock()
	defer f.diskMu.Unlock()
	if err := f.writeError(); err != nil {
		return err
	}
	f.header.Finished = at
	return f.writeHeader()
}

// Close makes everything durable and closes the files. It returns an earlier error of
// Sync, too. A second Close does nothing.
func (f *Folder) Close() error {
	err := f.Sync()
	if errors.Is(err, errClosed) {
		return nil
	}
	err = errors.Join(err, f.results.sync())
	f.diskMu.Lock()
	defer f.diskMu.Unlock()
	f.results.mu.Lock()
	defer f.results.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(f.err, errClosed) {
		return nil
	}
	f.err, f.results.err = errClosed, errClosed
	return errors.Join(err, f.closeFiles(), f.root.Close())
}

func (f *Folder) closeFiles() error {
	var errs []error
	for _, file := range []*os.File{f.objects, f.steps, f.results.file} {
		if file != nil {
			errs = append(errs, file.Close())
		}
	}
	return errors.Join(errs...)
}

// writeError returns why nothing more can be saved, or nil.
func (f *Folder) writeError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
