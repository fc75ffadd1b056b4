package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// says writes a text.
func says(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// These run on Windows, too, where a file that is replaced is the system's own affair: what
// other programs have open, long paths, OneDrive.
func TestReplaceFile(t *testing.T) {
	for name, file := range map[string]string{
		"one that is new":                     "new.json",
		"one that is there":                   "old.json",
		"one as long as a name may be":        strings.Repeat("x", 250) + ".json",
		"one at the end of a path beyond 260": filepath.Join(strings.Repeat("d", 200), strings.Repeat("e", 200), "deep.json"),
		"one with blanks in its name":         "my cluster.json",
		"one with a pattern of its own":       "[a-z]#%20.json",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if file == "old.json" {
				if err := os.WriteFile(path, []byte("the old one, which was longer"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := ReplaceFile(path, PrivateFile, says("new")); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
				t.Errorf("%q, %v", got, err)
			}
			alone(t, path)
		})
	}
}

// alone fails if there is anything beside a file.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s is left behind", e.Name())
		}
	}
}

func TestReplaceFileThatFailsNamesTheFileAndLeavesNothing(t *testing.T) {
	broken := errors.New("no more")
	for name, test := range map[string]struct {
		write func(path string) func(io.Writer) error
		says  string
	}{
		"what writes fails": {func(string) func(io.Writer) error { return func(io.Writer) error { return broken } }, "no more"},
		"a folder takes its place in the middle": {func(path string) func(io.Writer) error {
			return func(io.Writer) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) }
		}, "replace "},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cluster.json")
			err := ReplaceFile(path, PrivateFile, test.write(path))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v", err)
			}
			if test.says == "replace " && !strings.HasPrefix(err.Error(), "replace "+path+": ") {
				t.Errorf("got %v, which does not name the file alone", err)
			}
			alone(t, path)
		})
	}
	t.Run("there is no such folder", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "none", "cluster.json")
		err := ReplaceFile(path, PrivateFile, says("new"))
		if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "create "+path+": ") {
			t.Errorf("got %v", err)
		}
	})
}

// A device or a pipe stays what it is. os.DevNull is NUL on Windows.
func TestReplaceFileWritesToADevice(t *testing.T) {
	if err := ReplaceFile(os.DevNull, PrivateFile, says("new")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Errorf("it became %v, %v", info, err)
	}
}

func TestFileTypesThatAreNotReplaced(t *testing.T) {
	for name, test := range map[string]struct {
		mode os.FileMode
		into bool
	}{
		"a file":                               {0o600, false},
		"a file that only its owner may write": {0o400, false},
		"a file in OneDrive, on Windows":       {os.ModeIrregular | 0o666, false},
		"a console":                            {os.ModeDevice | os.ModeCharDevice | 0o666, true},
		"a disk":                               {os.ModeDevice, true},
		"a pipe":                               {os.ModeNamedPipe, true},
		"a socket":                             {os.ModeSocket, true},
		"a folder, which refuses":              {os.ModeDir | 0o700, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.mode&notReplaced != 0; got != test.into {
				t.Errorf("got %v", got)
			}
		})
	}
}
