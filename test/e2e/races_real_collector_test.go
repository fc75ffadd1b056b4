package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

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

func TestCollectBesideTheRealCollector(t *testing.T) {
	t.Parallel()
	for _, seed := range graphs(t, 4028305970)[:1] {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			theirs := &trial{scene: withRealCollector.newScene(t), blueprint: draw(seed, 220).avoidConcurrentResults().reorderCopies()}
			g := theirs.build(theirs.scene, 0)[0]
			before := g.state()
			r := theirs.gcWithRealCollector("collect", "--yes", "-o", "json", "--backup-dir", t.TempDir())
			after := theirs.awaitIdle(g)[0]
			theirs.switchCollector(testcluster.Absent)

			got := decode[collected](t, r)
			checkCollected(t, got)
			if r.Code != 0 && (r.Code != 1 || got.Summary.Failed > 0) {
				t.Errorf("it exits with %d: %s", r.Code, r.Stderr)
			}
			for _, s := range got.Steps {
				if s.Status == "failed" {
					t.Errorf("%s of %s: %s", s.Action, s.Object.identity, s.Message)
				}
			}
			theirs.run(before, after)
			for _, role := range theirs.mismatches(after) {
				t.Error(theirs.history(role, g, before, after))
			}
		})
	}
}
