package backup

import (
	"os"
	"path/filepath"
)

// Op is what a DiskChange does.
type Op string

// What a DiskChange does.
const (
	MakeFolder Op = "make folder" // and its parents that are missing
	CreateFile Op = "create file"
	Write      Op = "write"       // at the end of a file
	SyncFile   Op = "sync file"   // make its contents durable
	SyncFolder Op = "sync folder" // make the names in it durable
	Remove     Op = "remove"      // a file, or an empty folder
)

// DiskChange is one change of a file or a folder.
type DiskChange struct {
	Op   Op
	Path string
	Data []byte // of a Write; valid during the call
}

// Disk carries out the changes of backups, so that a test can record them, let them fail, or stop a process at
// one. do makes the change. A Disk returns its error, or another one without having called do. It is called
// concurrently. Nil calls do.
type Disk func(c DiskChange, do func() error) error

func (d Disk) carryOut(c DiskChange, do func() error) error {
	if d == nil {
		return do()
	}
	return d(c, do)
}

// create creates a file to which is only appended.
func (d Disk) create(root *os.Root, name string) (*diskFile, error) {
	f := &diskFile{path: filepath.Join(root.Name(), name), disk: d}
	return f, d.carryOut(DiskChange{Op: CreateFile, Path: f.path}, func() (err error) {
		f.File, err = root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
		return err
	})
}

func (d Disk) remove(root *os.Root, name string) error {
	return d.carryOut(DiskChange{Op: Remove, Path: filepath.Join(root.Name(), name)}, func() error { return root.Remove(name) })
}

// diskFile is an open file that is written through a Disk.
type diskFile struct {
	*os.File
	path string
	disk Disk
}

// Write implements io.Writer.
func (f *diskFile) Write(data []byte) (n int, err error) {
	err = f.disk.carryOut(DiskChange{Op: Write, Path: f.path, Data: data}, func() (err error) {
		n, err = f.File.Write(data)
		return err
	})
	return n, err
}

// Sync makes the contents durable.
func (f *diskFile) Sync() error {
	return f.disk.carryOut(DiskChange{Op: SyncFile, Path: f.path}, f.File.Sync)
}
