package backup_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

// A truncated file does not affect what precedes the cut or what other files contain.
func TestTruncatedFileLosesOnlyItsTail(t *testing.T) {
	path := finishedRun(t)
	type line struct {
		event.Saved
		end      int // of the manifest in objects.jsonl, without its line break
		manifest string
	}
	var lines []line
	end := 0
	for data := range strings.Lines(readText(t, path, "objects.jsonl")) {
		end += len(data)
		if n := len(lines); n > 0 && lines[n-1].manifest == "" {
			lines[n-1].manifest, lines[n-1].end = strings.TrimSuffix(data, "\n"), end-1
			continue
		}
		lines = append(lines, line{})
		if err := json.Unmarshal([]byte(data), &lines[len(lines)-1].Saved); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) != 4 {
		t.Fatalf("%d lines, want 4: one object is saved twice", len(lines))
	}
	results, entries := open(t, path).Results, open(t, path).Entries

	for _, name := range names(t, path) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(path, name)
			whole := readText(t, file)
			defer write(t, file, whole)
			for n := range len(whole) {
				write(t, file, whole[:n])
				b, err := backup.Open(path)
				if name == "index.json" && n < len(whole)-1 {
					checkError(t, err, path, "index.json") // it is never written in part
					continue
				}
				if err != nil {
					t.Fatalf("cut after %d bytes: %v", n, err)
				}
				want := map[uid]string{} // the latest of each whose manifest ends before the cut
				for _, l := range lines {
					if name != "objects.jsonl" || l.end <= n {
						want[l.Object.UID] = l.manifest
					}
				}
				got := map[uid]string{}
				for _, e := range b.Entries {
					data, err := b.Manifest(e)
					if err != nil {
						t.Fatalf("cut after %d bytes: %v", n, err)
					}
					got[e.Object.UID] = string(data)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("cut after %d bytes: %s", n, diff)
				}
				if len(b.Results) > len(results) || !slices.Equal(b.Results, results[:len(b.Results)]) {
					t.Fatalf("cut after %d bytes: other results: %v", n, b.Results)
				}
				if name != "done.jsonl" && len(b.Results) != len(results) {
					t.Fatalf("cut after %d bytes: results are lost: %v", n, b.Results)
				}
				if lost := len(steps) - len(b.Steps); lost < 0 || name != "steps.jsonl" && lost > 0 || cmp.Diff(steps[:len(b.Steps)], b.Steps, cmpopts.EquateEmpty()) != "" {
					t.Fatalf("cut after %d bytes: the steps are %v", n, b.Steps)
				}
				between := n == 0 || slices.ContainsFunc(lines, func(l line) bool { return n == l.end || n == l.end+1 })
				if len(b.Truncated) == 0 && !slices.Equal(b.Entries, entries) && !(name == "objects.jsonl" && between) {
					t.Fatalf("cut after %d bytes: data is lost and Truncated is empty", n)
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	tests := map[string]struct {
		damage  func(t *testing.T, path string)
		entries []string
		want    []string
	}{
		"the entry of an object is cut off": {
			damage:  func(t *testing.T, path string) { shorten(t, path, "objects.jsonl", 300) },
			entries: []string{"Deployment/web@2", "Secret/a@1", "Secret/b@3"},
			want:    []string{"objects.jsonl line 4: it is cut off after 185 bytes"},
		},
		"a manifest is cut off": {
			damage:  func(t *testing.T, path string) { shorten(t, path, "objects.jsonl", 20) },
			entries: []string{"Deployment/web@2", "Secret/a@1", "Secret/b@3"},
			want:    []string{`objects.jsonl line 4: the file ends before the end of the manifest of "Secret/a"`},
		},
		"a result is cut off": {
			damage:  func(t *testing.T, path string) { shorten(t, path, "done.jsonl", 20) },
			entries: []string{"Deployment/web@2", "Secret/a@4", "Secret/b@3"},
			want:    []string{"done.jsonl line 2: it is cut off after 149 bytes"},
		},
		"zero bytes at the end": {
			damage: func(t *testing.T, path string) {
				file := filepath.Join(path, "objects.jsonl")
				write(t, file, readText(t, file)+strings.Repeat("\x00", 5000))
			},
			entries: []string{"Deployment/web@2", "Secret/a@4", "Secret/b@3"},
			want:    []string{"objects.jsonl line 5: it contains zero bytes, as after a power failure"},
		},
		"a hole in a manifest": {
			damage: func(t *testing.T, path string) {
				file := filepath.Join(path, "objects.jsonl")
				data := readText(t, file)
				write(t, file, data[:len(data)-50]+strings.Repeat("\x00", 20)+data[len(data)-30:])
			},
			entries: []string{"Deployment/web@2", "Secret/a@1", "Secret/b@3"},
			want:    []string{`objects.jsonl line 4: the manifest of "Secret/a" contains zero bytes, as after a power failure`},
		},
		"a hole in the middle": {
			damage: func(t *testing.T, path string) {
				file := filepath.Join(path, "objects.jsonl")
				data := readText(t, file)
				from, to := strings.Index(data, `{"object":{"apiVersion":"apps/v1"`)+50, strings.LastIndex(data[:len(data)-1], "\n")-50
				write(t, file, data[:from]+strings.Repeat("\x00", to-from)+data[to:])
			},
			entries: []string{"Secret/a@1"}, // whether what follows the hole is a manifest is unknown
			want:    []string{"objects.jsonl line 2: it contains zero bytes, as after a power failure"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := finishedRun(t)
			test.damage(t, path)
			b := open(t, path)
			if diff := cmp.Diff(test.entries, saved(t, b)); diff != "" {
				t.Error(diff)
			}
			var got []string
			for _, x := range b.Truncated {
				got = append(got, x.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func shorten(t *testing.T, path, name string, by int) {
	t.Helper()
	file := filepath.Join(path, name)
	data := readText(t, file)
	write(t, file, data[:len(data)-by])
}

func TestOpenReportsDamageWithFileAndLine(t *testing.T) {
	edit := func(name, old, new string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			file := filepath.Join(path, name)
			data := readText(t, file)
			if !strings.Contains(data, old) {
				t.Fatalf("no %q in %s", old, data)
			}
			write(t, file, strings.Replace(data, old, new, 1))
		}
	}
	remove := func(name string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.Remove(filepath.Join(path, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := map[string]struct {
		damage func(t *testing.T, path string)
		want   string
	}{
		"no index.json":                        {remove("index.json"), "index.json: "},
		"no objects.jsonl":                     {remove("objects.jsonl"), "objects.jsonl: "},
		"no done.jsonl":                        {remove("done.jsonl"), "done.jsonl: "},
		"another program's folder":             {edit("index.json", "kubectl-gc.dev/v1alpha1", "v1"), `index.json: it holds a "Backup" of "v1", not a backup`},
		"a snapshot":                           {edit("index.json", `"Backup"`, `"Snapshot"`), `index.json: it holds a "Snapshot"`},
		"a newer format":                       {edit("index.json", "v1alpha1", "v1"), `newer than this version of the tool reads`},
		"a header of another shape":            {edit("index.json", `"prod"`, `["prod"]`), "index.json: malformed JSON"},
		"a line that is no JSON":               {edit("objects.jsonl", "{", "<"), "objects.jsonl line 1: malformed JSON"},
		"an empty line":                        {edit("objects.jsonl", "\n", "\n\n"), "objects.jsonl line 2: malformed JSON"},
		"a line that is cut off in the middle": {edit("objects.jsonl", `"}`+"\n", "\n"), "objects.jsonl line 1: malformed JSON"},
		"a line of null":                       {edit("objects.jsonl", "{", "null\n{"), "objects.jsonl line 1: it lacks the object's"},
		"an object without a uid":              {edit("objects.jsonl", `"uid":"uid-of-web"`, `"uid":""`), "objects.jsonl line 2: it lacks the object's"},
		"a length that is no number":           {edit("objects.jsonl", `"length":279`, `"length":1e999`), "line 1: malformed JSON"},
		"a negative length":                    {edit("objects.jsonl", `"length":279`, `"length":-279`), "line 1: a manifest cannot have -279 bytes"},
		"a length that is too short":           {edit("objects.jsonl", `"length":279`, `"length":278`), "objects.jsonl line 2: malformed JSON"},
		"no length":                            {edit("objects.jsonl", `"length":279`, `"length":0`), "line 1: a manifest cannot have 0 bytes"},
		"a length beyond the limit":            {edit("objects.jsonl", `"length":279`, `"length":99999999`), "line 1: a manifest cannot have 99999999 bytes"},
		"no sha256":                            {edit("objects.jsonl", `"sha256":"`, `"sha256":"","x":"`), `line 1: "" is not a sha256`},
		"a sha256 that is none":                {edit("objects.jsonl", `"sha256":"`, `"sha256":"zz`), "is not a sha256"},
		"a line that is too long":              {edit("objects.jsonl", "{", strings.Repeat(" ", 16<<20+2)+"{"), "objects.jsonl line 1: it is longer than 16777216 bytes"},
		"a header that is too long":            {edit("index.json", "{", strings.Repeat(" ", 16<<20)+"{"), "index.json: it is longer than 16777216 bytes"},
		"a result that is no JSON":             {edit("done.jsonl", "\n{", "\n["), "done.jsonl line 2: malformed JSON"},
		"a result without a status":            {edit("done.jsonl", `"status":"done"`, `"Status":"done"`), "done.jsonl line 1: it lacks an action or a status"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := finishedRun(t)
			test.damage(t, path)
			_, err := backup.Open(path)
			checkError(t, err, "open backup "+path+": ", test.want)
		})
	}
}

func TestOpenReportsAPathThatIsNotABackup(t *testing.T) {
	empty := t.TempDir()
	_, err := backup.Open(empty)
	checkError(t, err, empty, "index.json")
	_, err = backup.Open(filepath.Join(empty, "none"))
	checkError(t, err, empty)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	_, err = backup.Open(filepath.Join(finishedRun(t), "index.json"))
	checkError(t, err, "index.json")
}

func TestManifestMatchesItsEntry(t *testing.T) {
	path := finishedRun(t)
	b := open(t, path)
	deployment, a := b.Entries[0], b.Entries[1]
	change := func(e event.Saved, change func(*event.Saved)) event.Saved {
		change(&e)
		return e
	}
	tests := map[string]struct {
		entry event.Saved
		want  string
	}{
		"another sha256":         {change(a, func(e *event.Saved) { e.SHA256 = deployment.SHA256 }), "its sha256 is not the recorded one"},
		"another length":         {change(a, func(e *event.Saved) { e.Length-- }), "its sha256 is not the recorded one"},
		"beyond the end":         {change(a, func(e *event.Saved) { e.Length += 2 }), "unexpected EOF"},
		"another object":         {change(a, func(e *event.Saved) { e.Object.UID = "other" }), "of another object"},
		"another namespace":      {change(a, func(e *event.Saved) { e.Object.Namespace = "" }), "of another object"},
		"another version":        {change(a, func(e *event.Saved) { e.ResourceVersion = "9" }), `resourceVersion "4", not "9"`},
		"another object's bytes": {change(deployment, func(e *event.Saved) { e.Object = a.Object }), "of another object"},
		"no entry at all":        {event.Saved{}, "lacks the object's"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := b.Manifest(test.entry)
			if data != nil {
				t.Errorf("returned %s", data)
			}
			checkError(t, err, "read manifest of", path, test.want)
		})
	}
	t.Run("a changed byte", func(t *testing.T) {
		file := filepath.Join(path, "objects.jsonl")
		write(t, file, strings.ReplaceAll(readText(t, file), "lines", "files"))
		_, err := b.Manifest(a)
		checkError(t, err, `"Secret/a"`, "objects.jsonl", "damaged")
	})
}

func FuzzOpen(f *testing.F) {
	path := finishedRun(f)
	index, objects, done := readText(f, path, "index.json"), readText(f, path, "objects.jsonl"), readText(f, path, "done.jsonl")
	f.Add(index, objects, done)
	f.Add(index, objects[:100], done[:100])
	f.Add(index, strings.ReplaceAll(objects, `"length":279`, `"length":280`), done)
	f.Add(index, strings.ReplaceAll(objects, "kind", "Kind"), done)
	f.Add(index, objects+"\x00\x00", "null\n")
	f.Add("{}", "", "")
	path = filepath.Join(f.TempDir(), "backup") // shared: the inputs run one after the other
	if err := os.Mkdir(path, 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, index, objects, done string) {
		for name, data := range map[string]string{"index.json": index, "objects.jsonl": objects, "done.jsonl": done} {
			write(t, filepath.Join(path, name), data)
		}
		b, err := backup.Open(path)
		if err != nil {
			checkError(t, err, path)
			return
		}
		defer b.Close()
		for i, e := range b.Entries {
			if i > 0 && b.Entries[i-1].Object.Compare(e.Object) > 0 {
				t.Errorf("out of order: %v", b.Entries)
			}
			data, err := b.Manifest(e)
			if err != nil {
				checkError(t, err, path)
				continue
			}
			if o, err := objectOf(data); err == nil && (o.Identity != e.Object || o.ResourceVersion != e.ResourceVersion) {
				t.Errorf("the entry %+v has the manifest %s", e, data)
			}
			if !strings.Contains(objects, string(data)) {
				t.Errorf("a manifest from nowhere: %s", data)
			}
		}
		for _, x := range b.Truncated {
			if strings.ContainsAny(x.String(), "\n\r\x00\x1b") {
				t.Errorf("%q is not one line", x)
			}
		}
	})
}
