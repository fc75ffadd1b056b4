package simulation

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// disk is the disk of one life of an instance. Its files are real, but nothing is synced: it records what
// was changed and synced, and from that rebuilds what a power loss leaves. After a kill, the files
// themselves are what is left. Its methods are safe for concurrent use.
//
// It is as unkind as a file system may be, and unkinder than ext4 and XFS are:
//   - A write is in the file at once for whoever reads it, and durable after a sync of the file. Of what
//     was not synced, a power loss leaves nothing, a part from the start, or all, and some of that can
//     be zero bytes, because lengths and contents reach the disk separately.
//   - That a name was created or removed is durable after a sync of its folder. A sync of the
//     file does not suffice. Of changes of names that were not synced, a power loss leaves any, whatever
//     their order. A file whose name is lost is lost.
//   - What was synced stays.
type disk struct {
	// before, if it is not nil, is called before each change. Its error is that of the change, which is then not
	// made. It must not wait: the caller holds a mutex, and whoever waits for a mutex stops the time of a bubble.
	before func(backup.DiskChange) error
	// part is how many bytes of that many a write leaves that fails because the disk is full. Nil means none.
	part func(bytes int) int

	root string
	mu   sync.Mutex
	made []backup.DiskChange // guarded by mu
}

// inMemory returns an empty folder for a test, in a file system in memory if the system has one, where survive
// takes a tenth of the time.
func inMemory(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "simulation-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// newDisk returns the disk of a life whose backups are in root, which does not exist yet. The folder
// above it does.
func newDisk(root string) *disk { return &disk{root: root} }

// carryOut is a backup.Disk.
func (d *disk) carryOut(c backup.DiskChange, do func() error) error {
	var refused error
	if d.before != nil {
		refused = d.before(c)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case refused != nil && c.Op == backup.Write && errors.Is(refused, syscall.ENOSPC) && d.part != nil:
		c.Data = c.Data[:d.part(len(c.Data))]
		if err := appendTo(c.Path, c.Data); err != nil {
			return err
		}
	case refused != nil:
		return refused
	case c.Op == backup.SyncFile || c.Op == backup.SyncFolder:
	default:
		if err := do(); err != nil {
			return err
		}
	}
	c.Data = slices.Clone(c.Data)
	d.made = append(d.made, c)
	return refused
}

func appendTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// length returns the number of changes made so far, with syncs.
func (d *disk) length() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.made)
}

// survive makes the folder to, with what a power loss leaves of the root after n changes. r decides what
// is left of what was not synced; nil leaves nothing of it. If the root itself is lost, there is no
// folder.
func (d *disk) survive(n int, to string, r *rand.Rand) error {
	above, err := d.after(n)
	if err != nil {
		return err
	}
	root := above.left(r)[filepath.Base(d.root)]
	if root == nil {
		return nil
	}
	return root.write(to, r)
}

// after returns the folder above the root after n changes.
func (d *disk) after(n int) (*inode, error) {
	d.mu.Lock()
	made := d.made[:n]
	d.mu.Unlock()
	above := newFolder()
	for i, c := range made {
		if err := above.replay(c, filepath.Dir(d.root)); err != nil {
			return nil, fmt.Errorf("change %d, %s %s: %w", i, c.Op, c.Path, err)
		}
	}
	return above, nil
}

// inode is a file or a folder, whatever its name is.
type inode struct {
	data   []byte // of a file
	synced int    // as many bytes of it are durable

	names   map[string]*inode // of a folder; nil for a file
	durable map[string]*inode // the names when it was last synced
	renamed []renaming        // since then
}

// renaming is a change of the names in a folder.
type renaming struct {
	name    string
	leadsTo *inode // nil if the name was removed
}

func newFolder() *inode {
	return &inode{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// rename changes the names in a folder.
func (i *inode) rename(change renaming) {
	change.apply(i.names)
	i.renamed = append(i.renamed, change)
}

func (c renaming) apply(names map[string]*inode) {
	if names[c.name] = c.leadsTo; c.leadsTo == nil {
		delete(names, c.name)
	}
}

// replay makes a change in a folder that is at a path.
func (i *inode) replay(c backup.DiskChange, at string) error {
	path, err := filepath.Rel(at, c.Path)
	if err != nil {
		return err
	}
	above, of := filepath.Split(path)
	folder := i.find(above)
	found := i.find(path)
	switch {
	case folder == nil:
		return fs.ErrNotExist
	case c.Op == backup.MakeFolder && found == nil:
		folder.rename(renaming{name: of, leadsTo: newFolder()})
		return nil
	case c.Op == backup.CreateFile && found == nil:
		folder.rename(renaming{name: of, leadsTo: &inode{}})
		return nil
	case c.Op == backup.CreateFile:
		return fs.ErrExist // the model has no file that is emptied
	case found == nil:
		return fs.ErrNotExist
	}
	switch c.Op {
	case backup.Write:
		found.data = append(found.data, c.Data...)
	case backup.SyncFile:
		found.synced = len(found.data)
	case backup.SyncFolder:
		found.durable, found.renamed = maps.Clone(found.names), nil
	case backup.Remove:
		folder.rename(renaming{name: of})
	case backup.MakeFolder, backup.CreateFile: // above
	}
	return nil
}

// find returns what is at a path below a folder, or nil.
func (i *inode) find(path string) *inode {
	for name := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(path)), "/") {
		if name != "." && i != nil {
			i = i.names[name]
		}
	}
	return i
}

// left returns which names a power loss leaves of a folder.
func (i *inode) left(r *rand.Rand) map[string]*inode {
	left := maps.Clone(i.durable)
	for _, change := range i.renamed {
		if r != nil && r.IntN(2) == 0 {
			change.apply(left)
		}
	}
	return left
}

// write writes what a power loss leaves.
func (i *inode) write(path string, r *rand.Rand) error {
	if i.names == nil {
		return os.WriteFile(path, i.contents(r), 0o600)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	left := i.left(r)
	for _, name := range slices.Sorted(maps.Keys(left)) { // so that chance repeats itself
		if err := left[name].write(filepath.Join(path, name), r); err != nil {
			return err
		}
	}
	return nil
}

// contents returns what a power loss leaves of a file.
func (i *inode) contents(r *rand.Rand) []byte {
	if r == nil || i.synced == len(i.data) {
		return i.data[:i.synced]
	}
	end := len(i.data)
	switch r.IntN(4) {
	case 0:
		end = i.synced
	case 1, 2:
		end = i.synced + r.IntN(len(i.data)-i.synced)
	}
	data := slices.Clone(i.data[:end])
	if r.IntN(3) == 0 {
		from := i.synced + r.IntN(end-i.synced+1)
		clear(data[from : from+r.IntN(end-from+1)])
	}
	return data
}
