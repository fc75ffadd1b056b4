package backup_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
)

// What a file that was cut off still has of a backup is what was written first.
func TestTruncatedFileLosesOnlyItsTail(t *testing.T) {
	path := finishedRun(t)
	file := filepath.Join(path, "records.jsonl")
	whole := readText(t, file)
	for n := range len(whole) {
		write(t, file, whole[:n])
		lines := strings.SplitAfter(whole[:n], "\n")
		lines = lines[:len(lines)-1] // the last one has no line break
		b, err := backup.Open(path)
		if len(lines) == 0 {
			checkError(t, err, path, "records.jsonl: its run was interrupted before it began")
			continue
		}
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		want, got := map[uid]string{}, map[uid]string{}
		wantSteps, wantResults, read := 0, 0, 0
		for i := 0; i < len(lines); i++ {
			var r struct {
				Object       *struct{ Object struct{ UID uid } }
				Step, Result *struct{}
			}
			if err := json.Unmarshal([]byte(lines[i]), &r); err != nil {
				t.Fatal(err)
			}
			switch {
			case r.Step != nil:
				wantSteps++
			case r.Result != nil:
				wantResults++
			case r.Object != nil && i+1 < len(lines):
				read += len(lines[i])
				i++
				want[r.Object.Object.UID] = strings.TrimSuffix(lines[i], "\n")
			case r.Object != nil:
				continue
			}
			read += len(lines[i])
		}
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
		if len(b.Steps) != wantSteps || len(b.Results) != wantResults || !b.Finished.IsZero() || (b.Truncated != "") != (n > read) {
			t.Fatalf("cut after %d bytes, %d of them usable: %d steps, %d results, truncated at %q", n, read, len(b.Steps), len(b.Results), b.Truncated)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTruncated(t *testing.T) {
	const zeros = "\x00\x00\x00"
	for name, test := range map[string]struct {
		damage  func(data string) string
		entries []string
		want    string
	}{
		"a result is cut off": {
			damage:  func(data string) string { return data[:strings.LastIndex(data, `"status"`)] },
			entries: []string{"Deployment/web@2", "Secret/a@4", "Secret/b@3"}, want: "records.jsonl line 13",
		},
		"a manifest is cut off": {
			damage:  func(data string) string { return data[:strings.LastIndex(data, `"ownerReferences"`)] },
			entries: []string{"Deployment/web@2", "Secret/a@1", "Secret/b@3"}, want: "records.jsonl line 11",
		},
		"a manifest is missing": {
			damage:  func(data string) string { return data[:strings.LastIndex(data, `{"apiVersion":"v1","data"`)] },
			entries: []string{"Deployment/web@2", "Secret/a@1", "Secret/b@3"}, want: "records.jsonl line 11",
		},
		"zero bytes at the end": {
			damage:  func(data string) string { return data + strings.Repeat("\x00", 20<<20) },
			entries: []string{"Deployment/web@2", "Secret/a@4", "Secret/b@3"}, want: "records.jsonl line 15",
		},
		"a hole in a manifest": {
			damage: func(data string) string {
				i := strings.LastIndex(data, `"ownerReferences"`)
				return data[:i] + zeros + data[i+3:]
			},
			entries: []string{"Deployment/web@2", "Secret/a@1", "Secret/b@3"}, want: "records.jsonl line 11",
		},
		"a hole over several lines": {
			damage: func(data string) string {
				from, to := strings.Index(data, `{"object":{"object":{"apiVersion":"apps/v1"`)+50, strings.LastIndex(data, `"status"`)
				return data[:from] + strings.Repeat("\x00", to-from) + data[to:]
			},
			entries: []string{"Secret/a@1"}, want: "records.jsonl line 6",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := finishedRun(t)
			file := filepath.Join(path, "records.jsonl")
			write(t, file, test.damage(readText(t, file)))
			b := open(t, path)
			if diff := cmp.Diff(test.entries, saved(t, b)); diff != "" || b.Truncated != test.want {
				t.Errorf("truncated at %q, want %q: %s", b.Truncated, test.want, diff)
			}
		})
	}
}

func TestOpenReportsDamageWithFileAndLine(t *testing.T) {
	const object = `{"object":{"object":`
	for name, test := range map[string]struct{ old, new, want string }{
		"another format":                       {"v1alpha1", "v1", `records.jsonl line 1: the backup has format "kubectl-gc.dev/v1", and this version of the tool reads "kubectl-gc.dev/v1alpha1"`},
		"a header of another shape":            {`"prod"`, `["prod"]`, "records.jsonl line 1: malformed JSON"},
		"no header":                            {`"header":`, `"finished":"2026-11-20T08:32:07Z","other":`, "records.jsonl line 1: a backup begins with its header"},
		"two headers":                          {`{"step"`, `{"apiVersion":"kubectl-gc.dev/v1alpha1","header":{}}` + "\n" + `{"step"`, "records.jsonl line 2: a backup begins with its header, and has no other"},
		"a line that is no JSON":               {object, "<", "records.jsonl line 4: malformed JSON"},
		"an empty line":                        {"\n", "\n\n", "records.jsonl line 2: malformed JSON"},
		"a line that is cut off in the middle": {`"}}` + "\n", "\n", "records.jsonl line 1: malformed JSON"},
		"a line of null":                       {object, "null\n" + object, "records.jsonl line 4: it is not one of a header, a step"},
		"a record of two kinds":                {`{"finished"`, `{"object":{},"finished"`, "records.jsonl line 14: it is not one of"},
		"a step without an action":             {`"action":"delete"`, `"action":""`, "records.jsonl line 2: it lacks a step or an action"},
		"an object without a uid":              {`"uid":"uid-of-web"},"resourceVersion"`, `"uid":""},"resourceVersion"`, "records.jsonl line 6: it lacks the object's"},
		"an object without its manifest":       {`{"apiVersion":"v1","data"`, object + `{}}}` + "\n" + `{"apiVersion":"v1","data"`, "records.jsonl line 6: it is not one of"},
		"a line that is too long":              {object, strings.Repeat(" ", 16<<20) + object, "records.jsonl line 4: it is longer than 16777216 bytes"},
		"a result without a status":            {`"status":"done"`, `"Status":"done"`, "records.jsonl line 12: it lacks an action or a status"},
	} {
		t.Run(name, func(t *testing.T) {
			path := finishedRun(t)
			file := filepath.Join(path, "records.jsonl")
			data := readText(t, file)
			if !strings.Contains(data, test.old) {
				t.Fatalf("no %q in %s", test.old, data)
			}
			write(t, file, strings.Replace(data, test.old, test.new, 1))
			_, err := backup.Open(path)
			checkError(t, err, "open backup "+path+": ", test.want)
		})
	}
}

func TestOpenReportsAPathThatIsNotABackup(t *testing.T) {
	empty := t.TempDir()
	_, err := backup.Open(empty)
	checkError(t, err, empty, "it is not a backup: records.jsonl: ")
	_, err = backup.Open(filepath.Join(empty, "none"))
	checkError(t, err, empty)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	_, err = backup.Open(filepath.Join(finishedRun(t), "records.jsonl"))
	checkError(t, err, "not a directory")
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
		"beyond the end":         {change(a, func(e *event.Saved) { e.Length += 2000 }), "EOF"},
		"another object":         {change(a, func(e *event.Saved) { e.Object.UID = "other" }), "of another object"},
		"another namespace":      {change(a, func(e *event.Saved) { e.Object.Namespace = "" }), "of another object"},
		"another version":        {change(a, func(e *event.Saved) { e.ResourceVersion = "9" }), `resourceVersion "4"), not "Secret/a"`},
		"another object's bytes": {change(deployment, func(e *event.Saved) { e.Object = a.Object }), "of another object"},
		"no entry at all":        {event.Saved{}, "its sha256 is not the recorded one"},
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
		file := filepath.Join(path, "records.jsonl")
		write(t, file, strings.ReplaceAll(readText(t, file), "lines", "files"))
		_, err := b.Manifest(a)
		checkError(t, err, `"Secret/a"`, "records.jsonl", "damaged")
	})
}

func FuzzOpen(f *testing.F) {
	path := finishedRun(f)
	file := filepath.Join(path, "records.jsonl") // shared: the inputs run one after the other
	whole := readText(f, file)
	for _, data := range []string{whole, whole[:900], strings.ReplaceAll(whole, "kind", "Kind"), whole + "\x00\x00", whole + "null\n", "{}", ""} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		write(t, file, data)
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
			manifest, err := b.Manifest(e)
			if err != nil {
				checkError(t, err, path)
				continue
			}
			if o, err := objectOf(manifest); err == nil && (o.Identity != e.Object || o.ResourceVersion != e.ResourceVersion) {
				t.Errorf("the entry %+v has the manifest %s", e, manifest)
			}
			if !strings.Contains(data, string(manifest)) {
				t.Errorf("a manifest from nowhere: %s", manifest)
			}
		}
	})
}
