package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strings"
	"time"
)

// Prune removes the oldest backups below root whose names begin with the prefix, until none is older
// than maxAge and all together are not larger than maxBytes. It never removes the latest one. It returns
// how many it removed. Only folders with the files of a backup are removed. If root does not exist,
// there is nothing to remove.
func Prune(root, prefix string, maxAge time.Duration, maxBytes int64, now time.Time) (removed int, err error) {
	folder, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("remove old backups in %s: %w", root, withoutPath(err))
	}
	defer folder.Close() // nothing is written to it
	entries, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return 0, fmt.Errorf("remove old backups in %s: %w", root, withoutPath(err))
	}
	type finished struct {
		name  string
		bytes int64
		at    time.Time
	}
	var all []finished
	total := int64(0)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if at, bytes, ok := sizeOfBackup(folder, e); ok {
			all = append(all, finished{e.Name(), bytes, at})
			total += bytes
		}
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(all[i].at.Compare(all[j].at), strings.Compare(all[i].name, all[j].name)) < 0
	})
	for i, b := range all {
		if i == len(all)-1 || now.Sub(b.at) <= maxAge && total <= maxBytes {
			return removed, nil
		}
		if err := folder.RemoveAll(b.name); err != nil {
			return removed, fmt.Errorf("remove old backup %s in %s: %w", b.name, root, withoutPath(err))
		}
		removed++
		total -= b.bytes
	}
	return removed, nil
}

// sizeOfBackup returns when a folder was last written to, and the size of its files. ok is false if it
// is not a backup.
func sizeOfBackup(root *os.Root, e fs.DirEntry) (at time.Time, bytes int64, ok bool) {
	if !e.IsDir() {
		return time.Time{}, 0, false
	}
	files, err := fs.ReadDir(root.FS(), e.Name())
	if err != nil {
		return time.Time{}, 0, false
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			return time.Time{}, 0, false
		}
		bytes += info.Size()
		ok = ok || f.Name() == indexFile
		if info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at, bytes, ok
}
