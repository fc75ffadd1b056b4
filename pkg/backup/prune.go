package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Limits are how old and how large the backups of a service may become.
type Limits struct {
	MaxAge   time.Duration
	MaxBytes int64 // of all backups together
}

// share is the part of MaxBytes that the backups of one namespace may use. An untrusted user is expected to be able to
// create objects in five namespaces at most (fewNamespaces in package controller), which use half of the space then.
const share = 10

// minAge is how long a backup is kept although its namespaces use more than their shares. Only if all
// backups together are too large, a younger one is removed.
const minAge = 24 * time.Hour

// Prune removes backups below root whose names begin with the prefix, the oldest first: those older
// than MaxAge; as many as it takes until the rest is within MaxBytes; and those older than a day of
// which more than half belongs to a namespace that exceeds its share. It keeps the latest backup
// and, where the system has locks, any that is open, and it removes only folders that hold the
// files of a backup. used is what each namespace uses of the backups that are kept. A missing root
// is not an error. disk carries out all changes.
func Prune(root, prefix string, limits Limits, now time.Time, disk Disk) (removed int, used map[string]int64, err error) {
	used = map[string]int64{}
	folder, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, used, nil
	}
	if err != nil {
		return 0, used, fmt.Errorf("remove old backups in %s: %w", root, withoutPath(err))
	}
	defer folder.Close() // nothing is written to it
	all, err := stored(folder, prefix)
	if err != nil {
		return 0, used, fmt.Errorf("remove old backups in %s: %w", root, withoutPath(err))
	}
	total := int64(0)
	for _, b := range all {
		total += b.bytes
		for namespace, bytes := range b.used {
			used[namespace] += bytes
		}
	}
	for i, b := range all {
		exceeds := false
		for namespace, bytes := range b.used { // not for a small part of what is somebody else's
			exceeds = exceeds || used[namespace] > limits.MaxBytes/share && bytes > b.bytes/2
		}
		age := now.Sub(b.at)
		if i == len(all)-1 || age <= limits.MaxAge && total <= limits.MaxBytes && !(exceeds && age > minAge) {
			continue
		}
		switch err := removeUnlessOpen(folder, b.name, disk); {
		case errors.Is(err, ErrBusy):
			continue
		case err != nil:
			return removed, used, fmt.Errorf("remove old backup %s in %s: %w", b.name, root, withoutPath(err))
		}
		removed++
		total -= b.bytes
		for namespace, bytes := range b.used {
			used[namespace] -= bytes
		}
	}
	return removed, used, nil
}

// storedBackup is a backup in a folder.
type storedBackup struct {
	name  string
	at    time.Time        // when it was last written to
	bytes int64            // that it uses
	used  map[string]int64 // bytes by namespace
}

// stored returns the backups below a folder, the oldest first.
func stored(folder *os.Root, prefix string) ([]storedBackup, error) {
	entries, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return nil, err
	}
	var all []storedBackup
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if at, bytes, ok := sizeOfBackup(folder, e); ok {
			all = append(all, storedBackup{e.Name(), at, bytes, usedByNamespace(folder, e.Name(), bytes)})
		}
	}
	slices.SortFunc(all, func(a, b storedBackup) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name))
	})
	return all, nil
}

// usedByNamespace divides the size of a backup among the namespaces of its objects and steps, by the lengths of their
// lines. What cannot be read counts for none.
func usedByNamespace(folder *os.Root, name string, bytes int64) map[string]int64 {
	root, err := folder.OpenRoot(name)
	if err != nil {
		return nil
	}
	defer root.Close() // nothing is written to it
	b := &Backup{root: root}
	lengths, all := map[string]int64{}, int64(0)
	count := func(o object.Identity, at line, manifest int64) (skip int64, err error) {
		length := int64(at.length) + manifest
		lengths[o.InNamespace()] += length
		all += length
		return manifest, nil
	}
	_ = readLines(b, objectsFile, validateSaved, func(at line, e event.Saved) (int64, error) { return count(e.Object, at, e.Length+1) })
	_ = readLines(b, stepsFile, validateStep, func(at line, s event.Step) (int64, error) { return count(s.Object, at, 0) })
	_ = readLines(b, doneFile, validateResult, func(at line, r event.Record) (int64, error) { return count(r.Object, at, 0) })
	for namespace, length := range lengths {
		lengths[namespace] = int64(float64(bytes) * float64(length) / float64(max(all, 1)))
	}
	return lengths
}

// removeUnlessOpen removes a backup, its header last: what a killed process leaves of it counts until the next one
// removes the rest. It returns ErrBusy if a Backup of it is open.
func removeUnlessOpen(folder *os.Root, name string, disk Disk) error {
	file, err := folder.OpenFile(name+"/"+objectsFile, os.O_RDWR|nonblock, 0)
	if err == nil {
		if err := lock(file); err != nil {
			return errors.Join(err, file.Close())
		}
		if runtime.GOOS == "windows" { // which removes no open file, and has no locks
			file.Close()
		} else {
			defer file.Close() // nothing was written to it
		}
	}
	files, err := fs.ReadDir(folder.FS(), name)
	if err != nil {
		return err
	}
	var all []string
	for _, f := range files {
		if f.Name() != indexFile {
			all = append(all, filepath.Join(name, f.Name()))
		}
	}
	for _, path := range append(all, filepath.Join(name, indexFile), name) {
		if err := disk.remove(folder, path); err != nil {
			return err
		}
	}
	return nil
}

// block is the space that file systems use at least for a file or folder, in bytes.
const block = 4 << 10

// sizeOfBackup returns when a folder was last written to, and the space of its files. ok is false if it
// is not a backup.
func sizeOfBackup(root *os.Root, e fs.DirEntry) (at time.Time, bytes int64, ok bool) {
	if !e.IsDir() {
		return time.Time{}, 0, false
	}
	files, err := fs.ReadDir(root.FS(), e.Name())
	if err != nil {
		return time.Time{}, 0, false
	}
	bytes = block
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			return time.Time{}, 0, false
		}
		bytes += (info.Size() + block - 1) / block * block
		ok = ok || f.Name() == indexFile
		if info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at, bytes, ok
}
