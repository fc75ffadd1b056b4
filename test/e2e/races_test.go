package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// allBackupManifests returns the manifests of all backups below a folder, by UID.
func (s *scene) allBackupManifests(backups string) map[string]map[string]any {
	s.Helper()
	folders, err := os.ReadDir(backups)
	s.must(err)
	out := map[string]map[string]any{}
	for _, folder := range folders {
		maps.Copy(out, s.backupManifests(filepath.Join(backups, folder.Name())))
	}
	return out
}

// requireBackedUp requires that deleted objects are in a backup as they were.
func (s *scene) requireBackedUp(backups string, objects ...object) {
	s.Helper()
	saved := s.allBackupManifests(backups)
	for _, o := range objects {
		if !s.gone(o) {
			continue
		}
		manifest, ok := saved[string(o.GetUID())]
		if !ok {
			s.Errorf("%s/%s is gone, and in no backup", o.GetKind(), o.GetName())
			continue
		}
		if diff := sameObject(o, manifest); diff != "" {
			s.Errorf("%s/%s has a wrong backup: %s", o.GetKind(), o.GetName(), diff)
		}
	}
}

// barrier holds requests until the expected number has arrived.
type barrier struct {
	mu      sync.Mutex
	awaited int
	all     chan struct{}
}

func newBarrier(n int) *barrier { return &barrier{awaited: n, all: make(chan struct{})} }

// wait returns a handler that forwards a request when all have arrived, or its client gives up.
func (m *barrier) wait(through http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		if m.awaited--; m.awaited == 0 {
			close(m.all)
		}
		m.mu.Unlock()
		select {
		case <-m.all:
		case <-r.Context().Done():
		}
		through.ServeHTTP(w, r)
	}
}

// Both runs find the same garbage and back it up before either deletes any of it.
func TestConcurrentCollectsDeleteEachObjectOnce(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("both")
	objects := s.createGarbage(ns, 60)
	owner := s.create(secret(ns, "owner"))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	backups, met := t.TempDir(), newBarrier(2)
	var runs []*process
	for range 2 {
		f := s.throughProxy(func(through http.Handler) []fault {
			return []fault{{firstOnly(writing(anyRequest)), met.wait(through)}}
		}).allowWrites()
		runs = append(runs, f.start("collect", "-n", ns, "--yes", "-o", "json", "--backup-dir", backups))
	}
	done := map[string]int{}
	for _, p := range runs {
		r := p.wait().exits(t, 0)
		got := decode[collected](t, r)
		for _, step := range got.Steps {
			if step.Status == "done" {
				done[step.Object.UID]++
			}
			if step.Status == "failed" {
				t.Errorf("%s of %s: %s", step.Action, step.Object.identity, step.Message)
			}
		}
	}
	for _, o := range append(objects, shared) {
		if n := done[string(o.GetUID())]; n != 1 {
			t.Errorf("%s was done %d times", o.GetName(), n)
		}
	}
	s.requireGone(objects...)
	s.requireBackedUp(backups, objects...)
	s.requireReferences(shared, referenceTo(owner))
}

// A collect that runs between the writes of a restoration finds no garbage.
func TestCollectDuringRestoreDeletesNothing(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("between")
	top := s.create(widget(ns, "top"))
	for i := range 2 {
		middle := s.create(configMap(ns, fmt.Sprint("middle-", i), ownedBy(referenceTo(top, controlling, blocking))))
		s.create(secret(ns, fmt.Sprint("below-", i), ownedBy(referenceTo(middle), referenceTo(top))))
	}
	names, links := s.names(ns), s.links(ns)
	folder := s.deleteForBackup(ns, "widget/top")
	var n atomic.Int64
	f := s.throughProxy(func(through http.Handler) []fault {
		return []fault{{writing(anyRequest), beforeResponse(through, func() {
			if got := s.tool().plan("-n", ns); len(got.Steps) > 0 {
				t.Errorf("after %d writes there is garbage: %+v", n.Load(), got.Steps[0])
			}
			s.tool().collect("-n", ns, "--no-backup")
			n.Add(1)
		})}}
	}).allowWrites()
	f.gc("restore", folder, "--yes", "--to-another-cluster", "--concurrency=1").exits(t, 0).shows(t, "created 5 in ")
	if n.Load() != 5 {
		t.Errorf("collect ran %d times", n.Load())
	}
	if got := s.names(ns); strings.Join(got, "") != strings.Join(names, "") {
		t.Errorf("the tree is %v, and was %v", got, names)
	}
	if got := s.links(ns); strings.Join(got, "\n") != strings.Join(links, "\n") {
		t.Errorf("the references are %v, and were %v", got, links)
	}
	s.mustHaveNoFindings(ns)
}

// temporaryCRD returns a CRD for one test.
func temporaryCRD(n int) object {
	return definition(fmt.Sprintf("vanishing-%d.example.com", n), "Ghost", "Namespaced", version("v1", true))
}

// newTemporaryObject returns an object of such a CRD.
func newTemporaryObject(crd object, ns, name string, more ...func(object)) object {
	group := strings.TrimPrefix(crd.GetName(), "ghosts.")
	return newObject(group+"/v1", "Ghost", ns, name, more...)
}

// The CRD is deleted with all of its objects right before the first write to one of them. A path
// that is no longer served does not prove that the object is gone: that step fails, and the
// others are done.
func TestCRDIsDeletedDuringRun(t *testing.T) {
	t.Parallel()
	type part struct {
		args        []string
		goes, stays []object // objects to delete that do not depend on the CRD; objects that must stay
		saved       []object
	}
	for i, c := range []struct {
		name string
		make func(s *scene, crd object, ns, backups string) part
	}{
		{"collect", func(s *scene, crd object, ns, backups string) part {
			others := s.createGarbage(ns, 5)
			orphan := s.create(newTemporaryObject(crd, ns, "orphan", ownedBy(missingOwner())))
			return part{
				args: []string{"collect", "-n", ns, "--backup-dir", backups}, goes: others, saved: append(others, orphan),
				stays: []object{s.create(secret(ns, "bystander"))},
			}
		}},
		{"restore", func(s *scene, crd object, ns, _ string) part {
			top := s.create(newTemporaryObject(crd, ns, "top"))
			s.create(secret(ns, "below", ownedBy(referenceTo(top))))
			return part{args: []string{"restore", s.deleteForBackup(ns, "ghost/top"), "--to-another-cluster"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			ns, backups := s.namespace("vanishes"), t.TempDir()
			crd := temporaryCRD(i)
			s.define(crd)
			crd = s.live(crd)
			p := c.make(s, crd, ns, backups)
			f := s.proxyCalling(writing(either(getOf("ghosts"), listOf("ghosts"))), func() {
				s.remove(crd, metav1.DeletePropagationBackground)
				s.await("the definition to go", func(context.Context) (bool, error) { return s.gone(crd), nil })
			})
			r := f.gc(append(p.args, "--yes")...).exits(t, 1).shows(t, "failed", "Ghost/", "1 failed")
			// For a moment the server still has the definition in memory.
			if !strings.Contains(r.Stdout, "create not allowed while custom resource definition is terminating") {
				r.shows(t, "the server could not find the requested resource")
			}
			s.requireGone(p.goes...)
			s.requireUnchanged(p.stays...)
			saved := s.allBackupManifests(backups)
			for _, o := range p.saved {
				if saved[string(o.GetUID())] == nil {
					t.Errorf("%s/%s is in no backup", o.GetKind(), o.GetName())
				}
			}
		})
	}
}

// An object is replaced after the scan. No write may affect the new object of the same name.
func TestObjectIsReplacedBetweenScanAndWrite(t *testing.T) {
	s := newScene(t)
	for command, says := range map[string]string{"delete configmap/subject": "already gone", "delete --client-side secret/owner": "already gone", "repair": "it no longer exists"} {
		t.Run(command, func(t *testing.T) {
			s := s.forSubtest(t)
			ns := s.namespace("replaced")
			refers := referenceTo(s.create(secret(ns, "owner")))
			if command == "repair" {
				refers = withFormerUID(refers)
			}
			o := s.create(configMap(ns, "subject", ownedBy(refers)))
			var fresh object
			f := s.proxyCalling(writing(single("configmaps", "subject")), func() { fresh = s.replace(o) })
			f.gc(append(strings.Fields(command), "-n", ns, "--no-backup", "--yes")...).exits(t, 0).shows(t, "skipped", says)
			s.requireUnchanged(fresh)
		})
	}
}

// Somebody creates an object that a restoration is about to create.
func TestRestoreKeepsObjectCreatedMeanwhile(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("taken")
	owner := s.create(configMap(ns, "owner"))
	s.create(secret(ns, "below", ownedBy(referenceTo(owner))))
	folder := s.deleteForBackup(ns, "configmap/owner")
	var other object
	f := s.proxyCalling(writing(listOf("configmaps")), func() { other = s.create(configMap(ns, "owner")) })
	f.gc("restore", folder, "--yes", "--to-another-cluster").shows(t, "an object with this name exists already")
	s.requireUnchanged(other)
	for _, link := range s.links(ns) {
		if strings.Contains(link, "ConfigMap/owner") {
			t.Errorf("it refers to the other object: %s", link)
		}
	}
}

// gcWithRealCollector runs the program, and starts the cluster's own collector right before the
// first write. That runs until the test ends.
func (s *scene) gcWithRealCollector(args ...string) result {
	s.Helper()
	writes, both := make(chan struct{}), make(chan struct{})
	var first sync.Once
	f := s.throughProxy(func(through http.Handler) []fault {
		return []fault{{writing(anyRequest), func(w http.ResponseWriter, r *http.Request) {
			first.Do(func() { close(writes) })
			<-both
			through.ServeHTTP(w, r)
		}}}
	}).allowWrites()
	p := f.start(args...)
	<-writes
	s.startRealCollector()
	close(both)
	return p.wait()
}

type endedStep struct {
	Action, Status, Message string
	Object                  identity
}

// stepResults returns the results of the steps of a run of any command.
func (s *scene) stepResults(r result) []endedStep {
	s.Helper()
	var answer struct{ Steps []endedStep }
	s.must(json.Unmarshal([]byte(r.Stdout), &answer))
	if len(answer.Steps) == 0 {
		s.Fatalf("it did nothing: %s%s", r.Stdout, r.Stderr)
	}
	return answer.Steps
}

func TestDeleteClientSideBesideTheRealCollector(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns := s.namespace("beside-delete")
	owner, keeper := s.create(configMap(ns, "owner")), s.create(secret(ns, "keeper"))
	goes := []object{owner}
	var shared []object
	for i := range 40 {
		below := s.create(secret(ns, fmt.Sprint("below-", i), ownedBy(referenceTo(owner))))
		goes = append(goes, below, s.create(configMap(ns, fmt.Sprint("under-", i), ownedBy(referenceTo(below, blocking)))))
		shared = append(shared, s.create(secret(ns, fmt.Sprint("shared-", i), ownedBy(referenceTo(owner), referenceTo(keeper)))))
	}
	backups := t.TempDir()
	r := s.gcWithRealCollector("delete", "--client-side", "configmap/owner", "-n", ns, "--yes", "-o", "json", "--backup-dir", backups).exits(t, 0)
	for _, step := range s.stepResults(r) {
		if step.Status == "failed" {
			t.Errorf("%s of %s: %s", step.Action, step.Object, step.Message)
		}
	}
	s.requireGone(goes...)
	s.requireBackedUp(backups, goes...)
	for _, o := range shared {
		s.requireReferences(o, referenceTo(keeper))
	}
}

// Whichever comes first: a repaired object stays with its owner, and an object that the collector
// had already decided to delete is deleted, backed up, and reported. Before 1.34, the collector's
// DELETE names only the UID, so it can also delete an object that was repaired meanwhile.
func TestRepairBesideTheRealCollector(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns := s.namespace("beside-repair")
	owner := s.create(secret(ns, "owner"))
	var subjects []object
	for i := range 40 {
		subjects = append(subjects, s.create(configMap(ns, fmt.Sprint("subject-", i), ownedBy(withFormerUID(referenceTo(owner))))))
	}
	backups := t.TempDir()
	r := s.gcWithRealCollector("repair", "-n", ns, "--yes", "-o", "json", "--backup-dir", backups).exits(t, 0)
	said := map[string]string{}
	for _, step := range s.stepResults(r) {
		said[step.Object.UID] = step.Status
	}
	lost, deletesRepaired := 0, s.serverBefore("1.34")
	for _, o := range subjects {
		switch status := said[string(o.GetUID())]; {
		case s.gone(o) && status == "done" && deletesRepaired:
			lost++
		case s.gone(o) && status == "skipped":
			lost++
		case !s.gone(o) && status == "done":
			s.requireReferences(o, referenceTo(owner))
		default:
			t.Errorf("%s is %s, and gone: %t", o.GetName(), status, s.gone(o))
		}
	}
	s.requireBackedUp(backups, subjects...)
	t.Logf("of %d objects the collector was faster with %d", len(subjects), lost)
}
