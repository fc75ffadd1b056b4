package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// backupRecord is a line of a backup. The line after an object is its manifest.
type backupRecord struct {
	Header   struct{ Command, Digest, Context, Started string }
	Object   *struct{ Object identity }
	Result   struct{ Status string }
	Finished string

	manifest map[string]any // of an object
}

// backupRecords reads a backup. It relies only on the documented layout of the folder.
func (s *scene) backupRecords(folder string) (all []backupRecord) {
	s.Helper()
	file, err := os.ReadFile(filepath.Join(folder, "records.jsonl"))
	if err != nil {
		s.Errorf("read the backup: %v", err)
	}
	for lines := json.NewDecoder(bytes.NewReader(file)); lines.More(); {
		var r backupRecord
		err := lines.Decode(&r)
		if err == nil && r.Object != nil {
			err = lines.Decode(&r.manifest)
		}
		if err != nil {
			s.Errorf("%v in %s", err, file)
			return all
		}
		all = append(all, r)
	}
	return all
}

// backupManifests reads the manifests of a backup, by the UID of their objects.
func (s *scene) backupManifests(folder string) map[string]map[string]any {
	s.Helper()
	out := map[string]map[string]any{}
	for _, r := range s.backupRecords(folder) {
		if r.Object != nil {
			out[r.Object.Object.UID] = r.manifest
		}
	}
	return out
}

// requirePrivate requires that only their owner can read the files and folders below a folder.
func (s *scene) requirePrivate(folder string) {
	s.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			s.Errorf("%s has the mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		s.Error(err)
	}
}

func TestCollectBacksUpEverythingBeforeTheFirstDelete(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("saved")
	root := filepath.Join(t.TempDir(), "not", "yet", "there")
	objects := append(s.createGarbage(ns, 30),
		s.create(secret(ns, "orphan", ownedBy(missingOwner()), withField("stringData", map[string]any{"password": "hunter2"}))),
		s.create(widget(ns, "orphan", ownedBy(missingOwner()), withField("spec", map[string]any{"size": int64(3)}))))
	var first sync.Once
	f := s.throughProxy(func(through http.Handler) []fault {
		return []fault{{deleting(anyRequest), beforeResponse(through, func() {
			first.Do(func() {
				folders, err := os.ReadDir(root)
				if err != nil || len(folders) != 1 {
					t.Errorf("the first DELETE comes, and the backups are %v, %v", folders, err)
					return
				}
				folder := filepath.Join(root, folders[0].Name())
				if got := len(s.backupManifests(folder)); got != len(objects) {
					t.Errorf("at the first DELETE, %d of %d objects are backed up", got, len(objects))
				}
				s.requirePrivate(folder)
			})
		})}}
	}).allowWrites()
	got := f.tool.collect("-n", ns, "--backup-dir", root)
	s.requireGone(objects...)
	if filepath.Dir(got.Backup) != root {
		t.Fatalf("the backup is reported as %q", got.Backup)
	}
	s.requirePrivate(root)
	kept := s.backupManifests(got.Backup)
	for _, o := range objects {
		if diff := sameObject(o, kept[string(o.GetUID())]); diff != "" {
			t.Errorf("%s/%s is not backed up as it was: %s", o.GetKind(), o.GetName(), diff)
		}
	}
	records, done := s.backupRecords(got.Backup), 0
	for _, r := range records {
		if r.Result.Status == "done" {
			done++
		}
	}
	if h := records[0].Header; h.Command != "collect" || h.Digest != got.Digest || h.Context != "front" || h.Started == "" {
		t.Errorf("the header says %+v", h)
	}
	if last := records[len(records)-1]; done != len(objects) || last.Finished == "" {
		t.Errorf("%d steps are noted as done, want %d, and at last %+v", done, len(objects), last)
	}
}

// sameObject returns the difference between an object as it was created and its backup.
func sameObject(o object, manifest map[string]any) string {
	want, err := json.Marshal(o.Object)
	got, err2 := json.Marshal(manifest)
	if err != nil || err2 != nil {
		return fmt.Sprint(err, err2)
	}
	if !bytes.Equal(want, got) {
		return fmt.Sprintf("%s is %s", want, got)
	}
	return ""
}

func TestCollectKeepsObjectsThatCannotBeBackedUp(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unsaved")
	objects := s.createGarbage(ns, 2)
	s.gc("collect", "-n", ns, "--yes", "--backup-dir", filepath.Join(s.writeFile("a-file", ""), "backups")).exits(t, 2).
		warns(t, "error: make backup folder", "not a directory")
	homeless := s.tool()
	homeless.env = append(homeless.env, "HOME=")
	homeless.gc("collect", "-n", ns, "--yes").exits(t, 2).
		warns(t, "error: find the backups: ", "hint: choose a folder with --backup-dir")
	s.requireUnchanged(objects...)

	whole := func(about func(*http.Request) bool) func(*http.Request) bool {
		return reading(func(r *http.Request) bool { return about(r) && r.Header.Get("Accept") == "application/json" })
	}
	run := func(about func(*http.Request) bool, words ...string) {
		f := s.throughProxy(func(http.Handler) []fault {
			return []fault{{whole(about), respondStatus(403, "Forbidden", "only metadata for you")}}
		}).allowWrites()
		requireWords(t, f.gc("collect", "-n", ns, "--yes", "--backup-dir", t.TempDir()).exits(t, 1), append(words, "not backed up", "only metadata for you")...)
	}
	run(either(getOf("configmaps"), listOf("configmaps")))
	s.requireUnchanged(objects...)
	run(single("configmaps", "orphan-001"), "deleted 1")
	s.requireGone(objects[0])
	s.requireUnchanged(objects[1])
}

func TestCollectBacksUpToTheHomeDirectoryByDefault(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("home")
	tool := s.tool()
	home := t.TempDir()
	tool.env = append(tool.env, "HOME="+home)
	backups := filepath.Join(home, ".kube", "gc-backup", s.controlPlane.Context("admin"))
	s.createGarbage(ns, 2)
	tool.gc("collect", "-n", ns, "--yes", "--no-backup").exits(t, 0).shows(t, "deleted 2")
	if _, err := os.Stat(backups); !os.IsNotExist(err) {
		t.Errorf("in spite of --no-backup: %v", err)
	}
	s.createGarbage(ns, 2)
	tool.gc("collect", "-n", ns, "--dry-run=server").exits(t, 0)
	tool.gc("collect", "-n", ns).exits(t, 4)
	if _, err := os.Stat(backups); !os.IsNotExist(err) {
		t.Errorf("nothing was deleted, but there is a backup: %v", err)
	}
	got := tool.collect("-n", ns)
	if filepath.Dir(got.Backup) != backups {
		t.Errorf("the backup is in %s, want %s", got.Backup, backups)
	}
	s.requirePrivate(filepath.Join(home, ".kube", "gc-backup"))
	if none := tool.collect("-n", ns); none.Backup != "" || len(none.Steps) > 0 {
		t.Errorf("a run with nothing to do: %+v", none)
	}
}

// canaries are the values that may occur only in the manifests of a backup: credentials, and the
// contents of Secrets, in plain text and in base64 as the API encodes them.
var canaries = func() (out []string) {
	for _, word := range []string{canaryData, canaryString, canaryNote, canaryToken, canaryPassword} {
		out = append(out, word, base64.StdEncoding.EncodeToString([]byte(word)))
	}
	return out
}()

const (
	canaryData     = "canary-in-the-data-of-a-secret"
	canaryString   = "canary-in-its-stringData"
	canaryNote     = "canary-in-last-applied"
	canaryToken    = "canary-in-the-token"
	canaryPassword = "canary-in-the-password"
)

// leaked returns the canaries that occur in a text.
func leaked(text string) (out []string) {
	for _, canary := range canaries {
		if strings.Contains(text, canary) {
			out = append(out, canary)
		}
	}
	return out
}

func secretWithCanaries(s *scene, ns, name string, owner metav1.OwnerReference) object {
	return s.create(secret(ns, name, ownedBy(owner), labelled("app", "caged"),
		withField("data", map[string]any{"password": base64.StdEncoding.EncodeToString([]byte(canaryData))}),
		withField("stringData", map[string]any{"user": canaryString}),
		func(o object) {
			o.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"password":"` + canaryNote + `"}}`})
		}))
}

func TestSecretsOccurOnlyInBackups(t *testing.T) {
	s := newScene(t)
	f := s.throughProxy(nil).allowWrites()
	home := t.TempDir()
	f.env = append(f.env, "HOME="+home, "TMPDIR="+home, "KUBECONFIG="+kubeconfigWithPassword(f))
	run := func(ns string, args ...string) result {
		t.Helper()
		r := f.gc(append(args, "-n", ns, "-v=9")...)
		for stream, said := range map[string]string{"stdout": r.Stdout, "stderr": r.Stderr} {
			if found := leaked(said); found != nil {
				t.Errorf("kubectl gc %s shows %q on %s", r.output(), found, stream)
			}
		}
		return r
	}
	formats := []string{"yaml", "go-template={{.}}"}

	ns := s.namespace("canary")
	owner := s.create(configMap(ns, "owner"))
	secretWithCanaries(s, ns, "loses", missingOwner())
	s.setOwners(secretWithCanaries(s, ns, "keeps", referenceTo(owner)), referenceTo(owner), missingOwner())
	for command, own := range map[string][]string{
		"audit":                            {"wide", "sarif"},
		"tree":                             {"wide", "dot"},
		"why secret/loses":                 {"wide"},
		"collect --dry-run":                {"table"},
		"delete configmap/owner --dry-run": {"table"},
		"repair --dry-run":                 {"table"},
	} {
		for _, format := range append(own, formats...) {
			if r := run(ns, append(strings.Fields(command), "-o", format)...); r.Code > 1 && !strings.Contains(r.Stderr, "output format") {
				t.Errorf("kubectl gc %s exits with %d: %s", r.output(), r.Code, short(r.Stderr))
			}
		}
	}
	run(ns, "collect", "--dry-run=server").exits(t, 0)
	run(ns, "snapshot", "-o", filepath.Join(home, "snapshot.json")).exits(t, 0)
	run(ns, "snapshot", "-o", "-").exits(t, 0)
	run(ns, "__complete", "tree", "secret/").exits(t, 0)
	run(ns, "tree", "secret/no-such").exits(t, 2)
	run(ns, "audit", "-l", "app in (").exits(t, 2)

	run(ns, "repair", "secret/keeps", "--yes", "--backup-dir", filepath.Join(home, "repaired")).exits(t, 0)
	run(ns, "collect", "--yes", "-o", "jsonl", "--backup-dir", filepath.Join(home, "collected")).exits(t, 0)
	run(ns, "delete", "secret/keeps", "--yes").exits(t, 0)
	folder := onlyFolder(t, filepath.Join(home, ".kube", "gc-backup", "front"))
	run(ns, "restore").exits(t, 0).shows(t, filepath.Base(folder))
	for _, format := range formats {
		run(ns, "restore", folder, "--dry-run", "-o", format).exits(t, 0)
	}
	run(ns, "restore", folder, "--dry-run=server").exits(t, 0)
	run(ns, "restore", folder, "--yes").exits(t, 0)

	held := 0
	s.must(filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			switch found := leaked(line); {
			case d.Name() == "records.jsonl" && !strings.HasPrefix(line, `{"step":`) && !strings.HasPrefix(line, `{"result":`):
				held += len(found)
			case found != nil:
				t.Errorf("%s holds %q in %s", path, found, line)
			}
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v (%v)", path, info.Mode(), err)
		}
		return err
	}))
	if held == 0 {
		t.Error("not even a backup holds what the Secrets did: nothing was shown")
	}
}

// kubeconfigWithPassword returns a kubeconfig for the proxy that holds a token, and a password in
// the URL.
func kubeconfigWithPassword(f *recordingProxy) string {
	f.Helper()
	path := ""
	for _, variable := range f.env { // the last value of a variable is used
		if file, ok := strings.CutPrefix(variable, "KUBECONFIG="); ok {
			path = file
		}
	}
	config, err := clientcmd.LoadFromFile(path)
	f.must(err)
	server, err := url.Parse(config.Clusters["front"].Server)
	f.must(err)
	server.User = url.UserPassword("somebody", canaryPassword)
	config.Clusters["front"].Server = server.String()
	config.AuthInfos["somebody"] = &clientcmdapi.AuthInfo{Token: canaryToken}
	config.Contexts["front"].AuthInfo = "somebody"
	out := f.writeFile("whispering", "")
	f.must(clientcmd.WriteToFile(*config, out))
	return out
}
