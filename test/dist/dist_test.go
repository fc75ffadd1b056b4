package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const top = "../.."

// TestTwoBuildsAreTheSameBytes builds where the sources are and in a copy of them in
// another folder. DIST_TWICE=all does so for every platform, and has the copy built with
// nothing that was compiled before.
func TestTwoBuildsAreTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program twice")
	}
	all := os.Getenv("DIST_TWICE") == "all"
	there := copied(t)
	var sums []map[string]string
	for _, from := range []string{top, there} {
		out := t.TempDir()
		args := []string{"run", "./test/dist", "archives", "-version", "v1.2.3", "-time", "1700000000", "-ldflags", "-s -w -buildid=", "-out", out}
		if !all {
			args = append(args, "-platforms", runtime.GOOS+"/"+runtime.GOARCH)
		}
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = from, os.Environ()
		if all && from == there {
			cmd.Env = append(cmd.Env, "GOCACHE="+t.TempDir())
		}
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		got, err := readSums(out)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, got)
		if !all {
			isWhole(t, out)
		}
	}
	if diff := cmp.Diff(sums[0], sums[1]); diff != "" {
		t.Errorf("built here (-) and there (+):\n%s", diff)
	}
	want := 2
	if all {
		want = 2 * len(platforms)
	}
	if len(sums[0]) != want {
		t.Errorf("%d files: %v, want %d", len(sums[0]), sums[0], want)
	}
}

// copied is a folder with what git would commit of this one.
func copied(t *testing.T) string {
	t.Helper()
	list, err := exec.Command("git", "-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: git does not list the sources: ", err)
	}
	there := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(top, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(there, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(there, name), data, 0o600) // its rights are not ours, either
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return there
}

// isWhole looks at the archive that was built for this machine, and at its bill.
func isWhole(t *testing.T, out string) {
	t.Helper()
	here := platform{runtime.GOOS, runtime.GOARCH}
	archive := filepath.Join(out, here.archive("kubectl-gc", "v1.2.3"))
	files, err := readArchive(archive)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"LICENSE", "README.md", here.program("kubectl-gc")}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("it holds %v, want %v", got, want)
	}
	program := files[here.program("kubectl-gc")]
	if folder, err := filepath.Abs(top); err != nil || bytes.Contains(program, []byte(folder)) {
		t.Errorf("the program names the folder in which it was built: %v", err)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(archive + billEnding)
	if err != nil {
		t.Fatal(err)
	}
	var bill document
	if err := json.Unmarshal(data, &bill); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, p := range bill.Packages[1:] {
		listed[p.Name] = p.VersionInfo
	}
	linked := map[string]string{"stdlib": info.GoVersion}
	for _, m := range info.Deps {
		linked[m.Path] = m.Version
	}
	if diff := cmp.Diff(linked, listed); diff != "" {
		t.Errorf("linked (-) and listed (+):\n%s", diff)
	}
}

func TestAnArchiveSaysNothingOfTheFilesItWasMadeFrom(t *testing.T) {
	for _, ending := range []string{".tar.gz", ".zip"} {
		t.Run(ending, func(t *testing.T) {
			at := time.Unix(1700000000, 0).UTC()
			var archives [][]byte
			for _, mode := range []fs.FileMode{0o600, 0o777} {
				folder := t.TempDir()
				from := filepath.Join(folder, "from")
				if err := os.WriteFile(from, []byte("text"), mode); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(from, time.Time{}, time.Unix(int64(mode), 0)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(folder, "x"+ending)
				if err := writeArchive(path, []entry{{"a", from, 0o644}, {"b", from, 0o755}}, at); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				archives = append(archives, data)
				if got, err := timeOf(path, data); err != nil || !got.Equal(at) {
					t.Errorf("its files are of %s, want %s: %v", got, at, err)
				}
			}
			if !bytes.Equal(archives[0], archives[1]) {
				t.Error("two archives of equal files differ")
			}
		})
	}
}

func TestAnEarlierRunIsRemovedAndNothingElse(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"old.tar.gz", "mine"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeSums(folder, []string{"old.tar.gz"}); err != nil {
		t.Fatal(err)
	}
	if err := removeEarlier(folder); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if want := []string{filepath.Join(folder, sumsFile), filepath.Join(folder, "mine")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, want %v: %v", left, want, err)
	}
}

func TestAVersionIsOneForKrewAndForAURL(t *testing.T) {
	for version, fine := range map[string]bool{
		"v1.2.3": true, "v0.0.0-g1a2b3c4-dirty": true, "v1.2.3-rc.1": true, "v0.1.0-3-g1a2b3c4": true,
		"": false, "1.2.3": false, "v1.2": false, "v01.2.3": false, "v1.2.3+x": false, "v1.2.3_4": false, "1a2b3c4": false,
	} {
		if err := checkVersion(version); (err == nil) != fine {
			t.Errorf("%q: %v", version, err)
		}
	}
}
