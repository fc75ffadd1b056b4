package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// fakeBackup writes a folder with the files of a backup, last changed at this time. It uses sizeOfFake bytes.
func fakeBackup(t *testing.T, path string, at time.Time) {
	t.Helper()
	writeFiles(t, path, at, map[string]int{RecordsFile: 100})
}

const sizeOfFake = 2 * block

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
		"keeps all within the bounds":                     {ages: []time.Duration{3 * day, 2 * day, day}, maxAge: 3 * day, maxBytes: 3 * sizeOfFake, want: "a b c"},
		"removes what is older":                           {ages: []time.Duration{5 * day, 4 * day, day}, maxAge: 3 * day, maxBytes: unlimited, want: "c"},
		"removes the oldest until the others are smaller": {ages: []time.Duration{3 * day, 2 * day, day}, maxAge: 9 * day, maxBytes: 3*sizeOfFake - 1, want: "b c"},
		"keeps the latest one, however old and large":     {ages: []time.Duration{9 * day, 8 * day}, maxAge: day, maxBytes: 1, want: "b"},
		"keeps the only one":                              {ages: []time.Duration{9 * day}, maxAge: day, maxBytes: 1, want: "a"},
		"has nothing to do in an empty folder":            {maxAge: day, maxBytes: 1},
		"neither removes nor counts files and other folders": {
			ages: []time.Duration{3 * day, 2 * day}, maxAge: 9 * day, maxBytes: 2 * sizeOfFake, want: "0-files 0-nested 0-notes a b",
			other: func(t *testing.T, root string) {
				writeFiles(t, root, now.Add(-99*day), map[string]int{"0-notes": 500})
				writeFiles(t, filepath.Join(root, "0-files"), now.Add(-99*day), map[string]int{RecordsFile: 500, "mine": 1})
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
				for link, target := range map[string]string{"0-link": elsewhere, "0-with-link/Pod.json": filepath.Join(elsewhere, RecordsFile)} {
					if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
						t.Skip(err)
					}
				}
				t.Cleanup(func() {
					if _, err := os.Stat(filepath.Join(elsewhere, RecordsFile)); err != nil {
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
			_, err := Prune(root, "", Limits{c.maxAge, c.maxBytes}, now, nil)
			if err != nil {
				t.Fatal(err)
			}
			if left := names(t, root); !slices.Equal(left, strings.Fields(c.want)) {
				t.Errorf("%q is left, want %q", left, c.want)
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
	if _, err := Prune(filepath.Join(t.TempDir(), "missing"), "", Limits{time.Hour, 1}, time.Now(), nil); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(file, "", Limits{time.Hour, 1}, time.Now(), nil); err == nil || !strings.HasPrefix(err.Error(), "remove old backups in "+file+": ") {
		t.Errorf("got %v", err)
	}
}

// TestPruneKeepsWhatARunWrites makes backups as a run does.
func TestPruneKeepsWhatARunWrites(t *testing.T) {
	root := t.TempDir()
	for range 3 {
		f, err := Create(root, "2026-11-24T12-00-00Z", Header{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Prune(root, "", Limits{time.Hour, 1}, time.Now(), nil)
	if left := names(t, root); err != nil || !slices.Equal(left, []string{"2026-11-24T12-00-00Z-3"}) {
		t.Errorf("%q is left: %v", left, err)
	}
}

func TestPruneKeepsTheBackupsOfOtherRuns(t *testing.T) {
	root, now := t.TempDir(), time.Now()
	for _, name := range []string{"2026-11-20T08-31-07Z", "controller-2026-11-20T08-31-07Z", "controller-2026-11-20T08-31-08Z"} {
		fakeBackup(t, filepath.Join(root, name), now.Add(-99*time.Hour))
	}
	if _, err := Prune(root, "controller-", Limits{time.Hour, 1}, now, nil); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(root, "*"))
	if want := []string{filepath.Join(root, "2026-11-20T08-31-07Z"), filepath.Join(root, "controller-2026-11-20T08-31-08Z")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%v is left, want %v", left, want)
	}
}

// backupOf writes a backup of objects with manifests of these lengths, last changed at this time.
func backupOf(t *testing.T, root string, at time.Time, lengths map[string]int) string {
	t.Helper()
	f, err := Create(root, "backup", Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for namespace, n := range lengths {
		o := object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: "x", UID: types.UID(namespace)}, ResourceVersion: "1"}
		manifest := fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":%q,"name":"x","uid":%[1]q,"resourceVersion":"1"},"type":%q}`, namespace, strings.Repeat("x", n))
		if err := f.Save(o, json.RawMessage(manifest)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(f.Path(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Base(f.Path())
}

func TestPruneRemovesBackupsOfANamespaceOverItsShareAfterADay(t *testing.T) {
	root, now := t.TempDir(), time.Now()
	other := backupOf(t, root, now.Add(-50*time.Hour), map[string]int{"shop": 50_000})
	mixed := backupOf(t, root, now.Add(-45*time.Hour), map[string]int{"shop": 50_000, "tenant": 10})
	backupOf(t, root, now.Add(-40*time.Hour), map[string]int{"tenant": 200_000})
	young := backupOf(t, root, now.Add(-time.Hour), map[string]int{"tenant": 300_000, "shop": 10_000})
	latest := backupOf(t, root, now, map[string]int{"tenant": 200_000})
	used, err := Prune(root, "", Limits{99 * time.Hour, 4_000_000}, now, nil) // a share is 400,000
	if left := names(t, root); err != nil || !slices.Equal(left, []string{other, mixed, young, latest}) {
		t.Errorf("%v is left: %v", left, err)
	}
	if used["tenant"] < 500_000 || used["tenant"] > 590_000 || used["shop"] < 110_000 || used["shop"] > 170_000 {
		t.Errorf("the others use %v", used)
	}
}

func TestPruneKeepsABackupThatIsOpen(t *testing.T) {
	root, now := t.TempDir(), time.Now()
	read := backupOf(t, root, now.Add(-50*time.Hour), map[string]int{"shop": 10})
	latest := backupOf(t, root, now, map[string]int{"shop": 10})
	b, err := Open(filepath.Join(root, read))
	if err != nil {
		t.Fatal(err)
	}
	prune := func(want ...string) {
		t.Helper()
		if _, err := Prune(root, "", Limits{time.Hour, 1 << 20}, now, nil); err != nil {
			t.Error(err)
		}
		if left := names(t, root); !slices.Equal(left, want) {
			t.Errorf("%v is left, want %v", left, want)
		}
	}
	prune(read, latest)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	prune(latest)
}

func TestPruneRemovesWhatAKillLeftOfABackup(t *testing.T) {
	for made := range 2 { // then, an empty folder is left, which may be anybody's
		root, now := t.TempDir(), time.Now()
		old := backupOf(t, root, now.Add(-50*time.Hour), map[string]int{"shop": 10})
		writeFiles(t, filepath.Join(root, old), now.Add(-50*time.Hour), map[string]int{restoredFile: 0})
		latest := backupOf(t, root, now, map[string]int{"shop": 10})
		changes, killed := 0, errors.New("killed")
		_, err := Prune(root, "", Limits{time.Hour, 1 << 20}, now, func(_ DiskChange, do func() error) error {
			if changes++; changes > made {
				return killed
			}
			return do()
		})
		if !errors.Is(err, killed) {
			t.Fatalf("killed after %d changes: %v", made, err)
		}
		if _, err := Prune(root, "", Limits{time.Hour, 1 << 20}, now, nil); err != nil {
			t.Error(err)
		}
		if left := names(t, root); !slices.Equal(left, []string{latest}) {
			t.Errorf("after a kill after %d changes, %v is left", made, left)
		}
	}
}

func TestShares(t *testing.T) {
	s := NewShares(Limits{MaxBytes: 100_000})
	take := func(namespace string, bytes int, want error) {
		t.Helper()
		if err := s.Take(namespace, bytes); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	take("big", 99_000, nil) // the first
	take("tenant", 5000, nil)
	take("tenant", 5000, ErrShareUsed)
	take("shop", 5000, nil)
	if !s.Full("tenant") || s.Full("shop") {
		t.Error("not exactly the namespace that was refused is full")
	}
	s.Set(map[string]int64{"tenant": 8000, "shop": 10_000})
	if !s.Full("tenant") || !s.Full("shop") {
		t.Error("a namespace that uses its share is not full")
	}
	s.Set(map[string]int64{"tenant": 7500, "shop": 7501})
	if s.Full("tenant") || !s.Full("shop") {
		t.Error("a namespace is full until a quarter of its share is free")
	}
}

func TestSharesOfFiveNamespacesLeaveHalfOfTheSpace(t *testing.T) {
	const space = 1 << 20
	s := NewShares(Limits{MaxBytes: space})
	used := int64(0)
	for tenant := range 5 {
		for s.Take(fmt.Sprint("tenant-", tenant), 1000) == nil {
			used += 1000 + perObject
		}
	}
	if used > space/2 {
		t.Errorf("they use %d of %d bytes", used, space)
	}
}
