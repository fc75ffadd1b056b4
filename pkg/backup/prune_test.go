package backup

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeBackup writes a folder with the files of a backup, 100 bytes in all, last changed at this time.
func fakeBackup(t *testing.T, path string, at time.Time) {
	t.Helper()
	writeFiles(t, path, at, map[string]int{indexFile: 40, "Secret.json": 60})
}

func writeFiles(t *testing.T, folder string, at time.Time, sizes map[string]int) {
	t.Helper()
	if err := os.MkdirAll(folder, dirMode); err != nil {
		t.Fatal(err)
	}
	for name, size := range sizes {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrune(t *testing.T) {
	const unlimited = 1 << 40
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		ages     []time.Duration // of the backups a, b, c …: the oldest first
		other    func(t *testing.T, root string)
		maxAge   time.Duration
		maxBytes int64
		want     string // what is left
	}{
		"keeps all within the bounds":                     {ages: []time.Duration{3 * day, 2 * day, day}, maxAge: 3 * day, maxBytes: 300, want: "a b c"},
		"removes what is older":                           {ages: []time.Duration{5 * day, 4 * day, day}, maxAge: 3 * day, maxBytes: unlimited, want: "c"},
		"removes the oldest until the others are smaller": {ages: []time.Duration{3 * day, 2 * day, day}, maxAge: 9 * day, maxBytes: 299, want: "b c"},
		"keeps the latest one, however old and large":     {ages: []time.Duration{9 * day, 8 * day}, maxAge: day, maxBytes: 1, want: "b"},
		"keeps the only one":                              {ages: []time.Duration{9 * day}, maxAge: day, maxBytes: 1, want: "a"},
		"has nothing to do in an empty folder":            {maxAge: day, maxBytes: 1},
		"neither removes nor counts files and other folders": {
			ages: []time.Duration{3 * day, 2 * day}, maxAge: 9 * day, maxBytes: 200, want: "0-files 0-nested 0-notes a b",
			other: func(t *testing.T, root string) {
				writeFiles(t, root, now.Add(-99*day), map[string]int{"0-notes": 500})
				writeFiles(t, filepath.Join(root, "0-files"), now.Add(-99*day), map[string]int{"Secret.json": 500})
				writeFiles(t, filepath.Join(root, "0-nested", "more"), now.Add(-99*day), map[string]int{"x": 500})
				fakeBackup(t, filepath.Join(root, "0-nested"), now.Add(-99*day)) // no backup has a folder in it
			},
		},
		"never follows a link": {
			ages: []time.Duration{9 * day, day}, maxAge: 2 * day, maxBytes: unlimited, want: "0-link 0-with-link b",
			other: func(t *testing.T, root string) {
				elsewhere := filepath.Join(t.TempDir(), "elsewhere")
				fakeBackup(t, elsewhere, now.Add(-99*day))
				fakeBackup(t, filepath.Join(root, "0-with-link"), now.Add(-99*day))
				for link, target := range map[string]string{"0-link": elsewhere, "0-with-link/Pod.json": filepath.Join(elsewhere, indexFile)} {
					if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
						t.Skip(err)
					}
				}
				t.Cleanup(func() {
					if _, err := os.Stat(filepath.Join(elsewhere, indexFile)); err != nil {
						t.Error("it followed a link:", err)
					}
				})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for i, age := range c.ages {
				fakeBackup(t, filepath.Join(root, string(rune('a'+i))), now.Add(-age))
			}
			if c.other != nil {
				c.other(t, root)
			}
			before := names(t, root)
			removed, err := Prune(root, "", c.maxAge, c.maxBytes, now)
			if err != nil {
				t.Fatal(err)
			}
			left := names(t, root)
			if !slices.Equal(left, strings.Fields(c.want)) || removed != len(before)-len(left) {
				t.Errorf("it removed %d, and %q is left, want %q", removed, left, c.want)
			}
		})
	}
}

func names(t *testing.T, root string) []string {
	t.Helper()
	out, err := fs.Glob(os.DirFS(root), "*")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPruneWithoutFolder(t *testing.T) {
	if removed, err := Prune(filepath.Join(t.TempDir(), "missing"), "", time.Hour, 1, time.Now()); removed != 0 || err != nil {
		t.Errorf("got %d, %v", removed, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(file, "", time.Hour, 1, time.Now()); err == nil || !strings.HasPrefix(err.Error(), "remove old backups in "+file+": ") {
		t.Errorf("got %v", err)
	}
}

// TestPruneKeepsWhatARunWrites makes backups as a run does.
func TestPruneKeepsWhatARunWrites(t *testing.T) {
	root := t.TempDir()
	for range 3 {
		f, err := Create(root, "2026-11-24T12-00-00Z", Header{})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := Prune(root, "", time.Hour, 1, time.Now())
	if left := names(t, root); err != nil || removed != 2 || len(left) != 1 || left[0] != "2026-11-24T12-00-00Z-3" {
		t.Errorf("it removed %d, and %q is left: %v", removed, left, err)
	}
}

func TestPruneKeepsTheBackupsOfOtherRuns(t *testing.T) {
	root, now := t.TempDir(), time.Now()
	for _, name := range []string{"2026-11-20T08-31-07Z", "watch-2026-11-20T08-31-07Z", "watch-2026-11-20T08-31-08Z"} {
		fakeBackup(t, filepath.Join(root, name), now.Add(-99*time.Hour))
	}
	if removed, err := Prune(root, "watch-", time.Hour, 1, now); removed != 1 || err != nil {
		t.Errorf("%d removed, %v", removed, err)
	}
	left, err := filepath.Glob(filepath.Join(root, "*"))
	if want := []string{filepath.Join(root, "2026-11-20T08-31-07Z"), filepath.Join(root, "watch-2026-11-20T08-31-08Z")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%v is left, want %v", left, want)
	}
}
