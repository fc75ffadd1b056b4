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
// and, where the system has locks, any that is open, and it removes only folders that hold nothing but the
// files of a backup. used is what each namespace uses of the backups that are kept. A missing root
// is not an error. disk carries out all changes.
func Prune(root, prefix string, limits Limits, now time.Time, disk Disk) (used map[string]int64, err error) {
	used = map[string]int64{}
	folder, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return used, nil
	}
	var all []storedBackup
	if err == nil {
		defer folder.Close() // nothing is written to it
		all, err = stored(folder, prefix)
	}
	if err != nil {
		return used, fmt.Errorf("remove old backups in %s: %w", root, withoutPath(err))
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
			return used, fmt.Errorf("remove old backup %s in %s: %w", b.name, root, withoutPath(err))
		}
		total -= b.bytes
		for namespace, bytes := range b.used {
			used[namespace] -= bytes
		}
	}
	return used, nil
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
		if b := (storedBackup{name: e.Name(), bytes: block}); e.IsDir() && strings.HasPrefix(b.name, prefix) && b.measure(folder) {
			b.divide(folder)
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b storedBackup) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name))
	})
	return all, nil
}

// block is the space that file systems use at least for a file or folder, in bytes.
const block = 4 << 10

// measure finds out what a backup uses. It returns false for a folder that is not one, or has other files.
func (b *storedBackup) measure(folder *os.Root) (ok bool) {
	files, err := fs.ReadDir(folder.FS(), b.name)
	if err != nil {
		return false
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || f.Name() != RecordsFile && f.Name() != restoredFile {
			return false
		}
		b.bytes += (info.Size() + block - 1) / block * block
		ok = ok || f.Name() == RecordsFile
		if info.ModTime().After(b.at) {
			b.at = info.ModTime()
		}
	}
	return ok
}

// divide divides what a backup uses among the namespaces of its objects and steps, by the lengths of their records.
// What cannot be read counts for none.
func (b *storedBackup) divide(folder *os.Root) {
	file, err := openRegular(folder, filepath.Join(b.name, RecordsFile), os.O_RDONLY)
	if err != nil {
		return
	}
	defer file.Close()
	b.used = map[string]int64{}
	all := int64(0)
	_, _, _ = readRecords(file, func(r *record, length int64) error {
		if o := r.about(); o != (object.Identity{}) {
			b.used[o.InNamespace()] += length
			all += length
		}
		return nil
	})
	for namespace, length := range b.used {
		b.used[namespace] = int64(float64(b.bytes) * float64(length) / float64(all))
	}
}

// removeUnlessOpen removes a backup, its records last: what a killed process leaves of it counts until the next one
// removes the rest. It returns ErrBusy if a Backup of it is open.
func removeUnlessOpen(folder *os.Root, name string, disk Disk) error {
	records := filepath.Join(name, RecordsFile)
	file, err := folder.OpenFile(records, os.O_RDWR|nonblock, 0)
	if err != nil {
		return err
	}
	if err := lock(file, false); err != nil {
		return errors.Join(err, file.Close())
	}
	if runtime.GOOS == "windows" { // which removes no open file, and has no locks
		file.Close()
	} else {
		defer file.Close() // nothing was written to it
	}
	if err := disk.remove(folder, filepath.Join(name, restoredFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := disk.remove(folder, records); err != nil {
		return err
	}
	return disk.remove(folder, name)
}
