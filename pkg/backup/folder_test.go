package backup_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

type uid = types.UID

func TestOpenReadsWhatWasWritten(t *testing.T) {
	b := open(t, finishedRun(t))

	if diff := cmp.Diff(header, b.Header); diff != "" {
		t.Error(diff)
	}
	if !b.Finished.Equal(started.Add(time.Minute)) {
		t.Errorf("it finished at %v", b.Finished)
	}
	if diff := cmp.Diff([]string{"Deployment/web@2", "Secret/a@4", "Secret/b@3"}, saved(t, b)); diff != "" {
		t.Errorf("the latest of each object, sorted: %s", diff)
	}
	a := newObject("v1", "Secret", "a", "4")
	got, err := b.Manifest(b.Entries[1])
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, manifest(a)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("only white space may change: %s", diff)
	}
	results := []event.Record{
		{Step: "1", Action: "delete", Object: a.Identity, Status: "done", Time: started},
		{Step: "2", Action: "delete", Object: newObject("v1", "Secret", "b", "").Identity, Status: "done", Time: started.Add(time.Second)},
	}
	if diff := cmp.Diff(results, b.Results); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(steps, b.Steps); diff != "" {
		t.Error(diff)
	}
	if b.Truncated != "" {
		t.Errorf("a finished run is truncated at %v", b.Truncated)
	}
}

func TestFilesAreAsDocumented(t *testing.T) {
	path := finishedRun(t)
	if diff := cmp.Diff([]string{"records.jsonl"}, names(t, path)); diff != "" {
		t.Error(diff)
	}
	if got := filepath.Base(path); got != run {
		t.Errorf("the folder is called %s, want %s", got, run)
	}
	lines := strings.Split(readText(t, path, "records.jsonl"), "\n")
	if diff := cmp.Diff(`{"apiVersion":"kubectl-gc.dev/v1alpha1","header":{"tool":"v0.1.0","clusterUID":"u-cluster","server":"https://prod.example.com:6443",`+
		`"serverVersion":"v1.36.3","context":"prod","command":"collect","mode":"collect","digest":"5f2a9c41","started":"2026-11-20T08:31:07Z"}}`, lines[0]); diff != "" {
		t.Error(diff)
	}
	kind := regexp.MustCompile(`^{"(\w+)"`)
	var kinds []string
	for _, line := range lines[1:] {
		kinds = append(kinds, strings.Trim(kind.FindString(line), `{"`))
	}
	manifest := "apiVersion" // its first field
	want := []string{"step", "step", "object", manifest, "object", manifest, "object", manifest, "object", manifest, "result", "result", "finished", ""}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("the records in the order of the calls, each object before its manifest: %s", diff)
	}
}

func TestRunningRunHasNoFinishedTime(t *testing.T) {
	f := create(t)
	b := open(t, f.Path())
	if diff := cmp.Diff(header, b.Header); diff != "" {
		t.Error(diff)
	}
	if len(b.Entries)+len(b.Steps)+len(b.Results) > 0 || b.Truncated != "" || !b.Finished.IsZero() {
		t.Errorf("an empty folder contains %+v", b)
	}
}

func TestAResultIsWrittenWithoutSync(t *testing.T) {
	f := create(t)
	save(t, f, newObject("v1", "Secret", "a", "1"))
	if got := open(t, f.Path()); len(got.Entries) > 0 {
		t.Errorf("objects are written one by one: %v", got.Entries)
	}
	if err := f.AddResult(deleted); err != nil {
		t.Fatal(err)
	}
	save(t, f, newObject("v1", "Secret", "b", "1"))
	b := open(t, f.Path())
	if diff := cmp.Diff([]string{"Secret/a@1"}, saved(t, b)); diff != "" || len(b.Results) != 1 {
		t.Errorf("it has the results %v, after the objects before them: %s", b.Results, diff)
	}
}

func TestSyncIsDurableWithoutClose(t *testing.T) {
	f := create(t)
	save(t, f, newObject("v1", "Secret", "a", "1"))
	sync(t, f)
	if diff := cmp.Diff([]string{"Secret/a@1"}, saved(t, open(t, f.Path()))); diff != "" {
		t.Error(diff)
	}
}

func TestCreateUsesAFreshFolder(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, run+"-3"), "not ours")
	var paths []string
	for range 3 {
		f, err := backup.Create(root, run, header, nil)
		if err != nil {
			t.Fatal(err)
		}
		closeFolder(t, f)
		paths = append(paths, filepath.Base(f.Path()))
	}
	if diff := cmp.Diff([]string{run, run + "-2", run + "-4"}, paths); diff != "" {
		t.Error(diff)
	}
}

func TestCreateErrors(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	write(t, file, "")
	beyond := header
	beyond.Started = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		root, name string
		header     backup.Header
		want       string
	}{
		"the root is a file":              {root: file, name: run, want: file},
		"a folder above the root is one":  {root: filepath.Join(file, "deep", "er"), name: run, want: file},
		"no root":                         {root: "", name: run, want: "make folder"},
		"no name":                         {root: root, name: "", want: `"" is not a valid folder name`},
		"a name above the root":           {root: root, name: "..", want: `".." is not a valid folder name`},
		"a name that is the root":         {root: root, name: ".", want: `"." is not a valid folder name`},
		"a name of two elements":          {root: root, name: "a/b", want: `"a/b" is not a valid folder name`},
		"a name that is too long":         {root: root, name: strings.Repeat("x", 300), want: "make backup folder"},
		"a header that cannot be written": {root: root, name: run, header: beyond, want: "records.jsonl"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := backup.Create(test.root, test.name, test.header, nil)
			checkError(t, err, "make backup folder", test.want)
			if diff := cmp.Diff([]string{"file"}, names(t, root)); diff != "" {
				t.Errorf("files are left behind: %s", diff)
			}
		})
	}
}

func TestSaveErrors(t *testing.T) {
	a := newObject("v1", "Secret", "a", "1")
	with := func(change func(*object.Object)) object.Object {
		o := a
		change(&o)
		return o
	}
	tests := map[string]struct {
		object   object.Object
		manifest string
		want     string
	}{
		"the manifest of another name":      {a, string(manifest(with(func(o *object.Object) { o.Name = "b" }))), `of another object or version: "Secret/b"`},
		"the manifest of another namespace": {a, string(manifest(with(func(o *object.Object) { o.Namespace = "" }))), `"Secret/a" in ""`},
		"the manifest of another uid":       {a, string(manifest(with(func(o *object.Object) { o.UID = "new" }))), `uid "new"`},
		"the manifest of a later version":   {a, string(manifest(with(func(o *object.Object) { o.ResourceVersion = "2" }))), `resourceVersion "2"), not "Secret/a"`},
		"field names in another case":       {a, strings.Replace(string(manifest(a)), `"kind": "Secret"`, `"Kind": "Secret"`, 1), "lacks the object's apiVersion, kind, name or uid"},
		"metadata only":                     {a, `{"metadata":{"namespace":"shop","name":"a","uid":"uid-of-a","resourceVersion":"1"}}`, "lacks the object's apiVersion, kind, name or uid"},
		"half a manifest":                   {a, string(manifest(a)[:50]), "unexpected end of JSON"},
		"two manifests":                     {a, string(manifest(a)) + string(manifest(a)), "after top-level value"},
		"nothing":                           {a, "", "unexpected end of JSON"},
		"null":                              {a, "null", "of another object"},
		"a text":                            {a, `"Secret"`, "cannot unmarshal"},
		"a manifest that is too long":       {a, `{"a":"` + strings.Repeat("x", 16<<20) + `"}`, "exceed the limit of 16777216"},
		"an object without a uid":           {with(func(o *object.Object) { o.UID = "" }), string(manifest(a)), `not "Secret/a" in "shop" ("v1", uid "", resourceVersion "1")`},
		"a manifest without a uid":          {with(func(o *object.Object) { o.UID = "" }), string(manifest(with(func(o *object.Object) { o.UID = "" }))), "lacks the object's apiVersion, kind, name or uid"},
	}
	f := create(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			checkError(t, f.Save(test.object, json.RawMessage(test.manifest)), "save ", f.Path(), test.want)
		})
	}
	save(t, f, a)
	closeFolder(t, f)
	if diff := cmp.Diff([]string{"Secret/a@1"}, saved(t, open(t, f.Path()))); diff != "" {
		t.Errorf("an error concerns only one object: %s", diff)
	}
}

// One UID can be served in the groups extensions and networking.k8s.io: a restoration
// uses the one in the manifest.
func TestSaveUsesTheAPIVersionOfTheManifest(t *testing.T) {
	f := create(t)
	known, sent := newObject("networking.k8s.io/v1", "Ingress", "a", "1"), newObject("extensions/v1beta1", "Ingress", "a", "1")
	if err := f.Save(known, manifest(sent)); err != nil {
		t.Fatal(err)
	}
	closeFolder(t, f)
	b := open(t, f.Path())
	if diff := cmp.Diff([]string{"Ingress/a@1"}, saved(t, b)); diff != "" {
		t.Error(diff)
	}
	if got := b.Entries[0]; got.Object != sent.Identity {
		t.Errorf("got %+v", got)
	}
}

// After a failed write the disk may contain half of a batch, so nothing may be appended
// to it or reported as safe.
func TestFolderSavesNothingAfterAFailedWrite(t *testing.T) {
	tests := map[string]struct {
		damage func(t *testing.T, folder string)
		want   string
	}{
		"the file was replaced": {func(t *testing.T, folder string) {
			file := filepath.Join(folder, "records.jsonl")
			if err := os.Rename(file, file+".old"); err != nil {
				t.Fatal(err)
			}
			write(t, file, readText(t, file+".old"))
		}, "another process replaced it"},
		"the file was shortened": {func(t *testing.T, folder string) {
			if err := os.Truncate(filepath.Join(folder, "records.jsonl"), 10); err != nil {
				t.Fatal(err)
			}
		}, "another process changed it"},
		"the file was removed": {func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, "records.jsonl")); err != nil {
				t.Fatal(err)
			}
		}, "records.jsonl"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := create(t)
			save(t, f, newObject("v1", "Secret", "a", "1"))
			sync(t, f)
			test.damage(t, f.Path())
			save(t, f, newObject("v1", "Secret", "b", "1"), newObject("v1", "Pod", "p", "1"))
			first := f.Sync()
			checkError(t, first, "write "+f.Path(), test.want)
			if err := f.Sync(); !errors.Is(err, first) {
				t.Errorf("the next Sync returns %v, want %v", err, first)
			}
			d := newObject("v1", "Secret", "d", "1")
			if err := f.Save(d, manifest(d)); !errors.Is(err, first) {
				t.Errorf("the next Save returns %v, want %v", err, first)
			}
			if err := f.Finish(started); !errors.Is(err, first) {
				t.Errorf("Finish returns %v, want %v", err, first)
			}
			if err := f.AddResult(deleted); !errors.Is(err, first) {
				t.Errorf("AddResult returns %v, want %v", err, first)
			}
			if err := f.Close(); !errors.Is(err, first) {
				t.Errorf("Close returns %v, want %v", err, first)
			}
		})
	}
}

func TestClosedFolderReturnsErrors(t *testing.T) {
	f := create(t)
	closeFolder(t, f)
	closeFolder(t, f)
	a := newObject("v1", "Secret", "a", "1")
	for name, err := range map[string]error{
		"Save":      f.Save(a, manifest(a)),
		"Sync":      f.Sync(),
		"SaveSteps": f.SaveSteps(slices.Values(steps)),
		"AddResult": f.AddResult(deleted),
		"Finish":    f.Finish(started),
	} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s returns %v", name, err)
		}
	}
}

func TestAResultThatOpenWouldRejectIsNotWritten(t *testing.T) {
	f := create(t)
	for want, change := range map[string]func(*event.Record){
		"lacks an action or a status": func(r *event.Record) { r.Action = "" },
		"an action or a status":       func(r *event.Record) { r.Status = "" },
		"lacks the object's":          func(r *event.Record) { r.Object.UID = "" },
	} {
		r := deleted
		change(&r)
		checkError(t, f.AddResult(r), "write "+f.Path(), want)
	}
	if err := f.AddResult(deleted); err != nil {
		t.Error(err)
	}
}

func TestConcurrentSave(t *testing.T) {
	const workers, each = 8, 40
	f := create(t)
	var group gosync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				o := newObject("v1", []string{"Secret", "ConfigMap", "Pod"}[i%3], fmt.Sprintf("%d-%d", w, i), "1")
				if err := errors.Join(
					f.Save(o, manifest(o)), f.Sync(),
					f.AddResult(event.Record{Action: "delete", Status: "done", Object: o.Identity}),
				); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Go(func() {
		if err := f.SaveSteps(slices.Values(steps)); err != nil {
			t.Error(err)
		}
	})
	group.Wait()
	b := open(t, f.Path()) // before Close: every worker has synced
	if got := saved(t, b); len(got) != workers*each || len(b.Results) != workers*each || b.Truncated != "" {
		t.Errorf("%d manifests and %d results of %d, truncated: %v", len(got), len(b.Results), workers*each, b.Truncated)
	}

	var closing gosync.WaitGroup
	for range workers {
		closing.Go(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		closing.Go(func() {
			o := newObject("v1", "Secret", "late", "1")
			if err := errors.Join(f.Save(o, manifest(o)), f.Sync()); err != nil && !errors.Is(err, fs.ErrClosed) {
				t.Error(err)
			}
		})
	}
	closing.Wait()
	if truncated := open(t, f.Path()).Truncated; truncated != "" {
		t.Errorf("truncated at %v", truncated)
	}
}

func TestSaveWritesLargeBatches(t *testing.T) {
	f := create(t)
	for i := range 5 {
		o := newObject("v1", "Secret", fmt.Sprint(i), "1")
		large := slices.Concat(manifest(o)[:2], []byte(`"blob":"`+strings.Repeat("x", 3<<20)+`",`), manifest(o)[2:])
		if err := f.Save(o, large); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(open(t, f.Path()).Entries); got != 3 {
		t.Errorf("%d of 5 manifests of 3 MiB are written, want 3", got)
	}
	closeFolder(t, f)
	if got := len(open(t, f.Path()).Entries); got != 5 {
		t.Errorf("%d of 5 manifests are written after Close", got)
	}
}
