package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// besides runs the program against a cluster whose own collector starts to work right
// before the first write.
func (s *scene) besides(args ...string) result {
	s.Helper()
	writes, both := make(chan struct{}), make(chan struct{})
	var first sync.Once
	f := s.throughProxy(func(through http.Handler) []fault {
		return []fault{{writing(anything), func(w http.ResponseWriter, r *http.Request) {
			first.Do(func() { close(writes) })
			<-both
			through.ServeHTTP(w, r)
		}}}
	}).acting()
	p := f.starts(args...)
	<-writes
	s.switched(testcluster.On)
	close(both)
	r := p.ends()
	s.switched(testcluster.Absent)
	return r
}

type endedStep struct {
	Action, Status, Message string
	Object                  identity
}

// ends are how the steps of a run ended, of whatever command.
func (s *scene) ends(r result) []endedStep {
	s.Helper()
	var answer struct{ Steps []endedStep }
	s.must(json.Unmarshal([]byte(r.Stdout), &answer))
	if len(answer.Steps) == 0 {
		s.Fatalf("it did nothing: %s%s", r.Stdout, r.Stderr)
	}
	return answer.Steps
}

func TestDeleteFromHereBesideTheRealCollector(t *testing.T) {
	s := opposite(t)
	ns := s.namespace("beside-delete")
	owner, keeper := s.create(configMap(ns, "owner")), s.create(secret(ns, "keeper"))
	goes := []object{owner}
	var shared []object
	for i := range 40 {
		below := s.create(secret(ns, fmt.Sprint("below-", i), ownedBy(to(owner))))
		goes = append(goes, below, s.create(configMap(ns, fmt.Sprint("under-", i), ownedBy(to(below, blocking)))))
		shared = append(shared, s.create(secret(ns, fmt.Sprint("shared-", i), ownedBy(to(owner), to(keeper)))))
	}
	backups := t.TempDir()
	r := s.besides("delete", "--client-side", "configmap/owner", "-n", ns, "--yes", "-o", "json", "--backup-dir", backups).exits(t, 0)
	for _, step := range s.ends(r) {
		if step.Status == "failed" {
			t.Errorf("%s of %s: %s", step.Action, step.Object, step.Message)
		}
	}
	s.goes(goes...)
	s.savedAll(backups, goes...)
	for _, o := range shared {
		s.refers(o, to(keeper))
	}
}

// Whoever is faster: what was mended stays with its owner, and what the collector had
// decided on before is gone, saved, and said to be.
func TestRepairBesideTheRealCollector(t *testing.T) {
	s := opposite(t)
	ns := s.namespace("beside-repair")
	owner := s.create(secret(ns, "owner"))
	var subjects []object
	for i := range 40 {
		subjects = append(subjects, s.create(configMap(ns, fmt.Sprint("subject-", i), ownedBy(former(to(owner))))))
	}
	backups := t.TempDir()
	r := s.besides("repair", "-n", ns, "--yes", "-o", "json", "--backup-dir", backups).exits(t, 0)
	said := map[string]string{}
	for _, step := range s.ends(r) {
		said[step.Object.UID] = step.Status
	}
	lost := 0
	for _, o := range subjects {
		switch status := said[string(o.GetUID())]; {
		case s.gone(o) && status == "skipped":
			lost++
		case !s.gone(o) && status == "done":
			s.refers(o, to(owner))
		default:
			t.Errorf("%s is %s, and gone: %t", o.GetName(), status, s.gone(o))
		}
	}
	s.savedAll(backups, subjects...)
	t.Logf("of %d objects the collector was faster with %d", len(subjects), lost)
}
