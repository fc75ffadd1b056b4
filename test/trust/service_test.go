package trust

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// startsService starts the collector in service, with its output in a file that is returned.
func (u *user) startsService(args ...string) (p *process, log func() string) {
	u.Helper()
	path := filepath.Join(u.home, "log")
	file, err := os.Create(path)
	u.must(err)
	defer file.Close()
	args = append([]string{"controller", "--yes", "--leader-elect=false", "--allow-running-collector"}, args...)
	p = &process{user: u, args: args, cmd: u.command(args...)}
	p.cmd.Stdout, p.cmd.Stderr = file, file
	u.must(p.cmd.Start())
	return p, func() string {
		raw, err := os.ReadFile(path)
		u.must(err)
		return string(raw)
	}
}

// stops requires that the service runs, and interrupts it.
func (p *process) stops(log func() string) {
	p.Helper()
	p.must(p.cmd.Process.Signal(syscall.SIGTERM))
	if r := p.ends(runTimeout); r.code != 130 {
		p.Errorf("the service ended with %d by itself:\n%s", r.code, short(log()))
	}
}

// awaits waits until something is true.
func (u *user) awaits(what string, done func() bool) {
	u.Helper()
	err := wait.PollUntilContextTimeout(u.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		u.Errorf("waiting for %s: %v", what, err)
	}
}

// gone returns a function that reports whether all objects are gone.
func (s *Server) gone(all ...*Object) func() bool {
	return func() bool { return !slices.ContainsFunc(all, func(o *Object) bool { return s.Now(o) != nil }) }
}

// addGarbage adds ConfigMaps without a living owner.
func addGarbage(s *Server, namespace string, n int, data string) (all []*Object) {
	for i := range n {
		o := ownedBy(ConfigMaps.Object(namespace, fmt.Sprintf("garbage-%05d", i)), missingOwner(Deployments))
		o.Fields = map[string]any{"data": map[string]any{"x": data}}
		all = append(all, s.Add(o))
	}
	return all
}

func TestOneNamespaceOverTheLimitDoesNotStopTheServiceForOthers(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(Namespaces.Object("", "tenant"))
	tenant := addGarbage(s, "tenant", 31, "")
	early := addGarbage(s, "shop", 3, "")
	u := newUser(t, s)
	service, log := u.startsService("--max-deletes", "30")
	u.awaits("the garbage of another namespace", s.gone(early...))
	late := s.Add(ownedBy(Secrets.Object("shop", "late"), missingOwner(Deployments)))
	u.awaits("what becomes garbage later", s.gone(late))
	// A change of an object that is left out does not make it go alone.
	touched := *s.Now(tenant[0])
	touched.Labels = map[string]string{"touched": "yes"}
	s.Add(&touched)
	later := s.Add(ownedBy(Secrets.Object("shop", "later"), missingOwner(Deployments)))
	u.awaits("what becomes garbage still later", s.gone(later))
	service.stops(log)
	requireKept(t, s, tenant...)
	if n := strings.Count(log(), "left out, because this would delete more at once than --max-deletes allows (30): namespace tenant (31 objects)"); n != 1 {
		t.Errorf("the log says %d times what is left out:\n%s", n, short(log()))
	}
}

func TestOneNamespaceDoesNotEvictTheBackupsOfOthers(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(Namespaces.Object("", "tenant"))
	u := newUser(t, s)
	u.always = []string{"--backup-max-size", "2Mi"}
	precious := s.Add(ownedBy(Secrets.Object("shop", "precious"), missingOwner(Deployments)))
	service, log := u.startsService()
	u.awaits("the garbage of another namespace", s.gone(precious))
	tenant := addGarbage(s, "tenant", 40, strings.Repeat("x", 100_000)) // twice what fits
	time.Sleep(2 * time.Second)
	service.stops(log)
	after := s.Add(ownedBy(Secrets.Object("shop", "after"), missingOwner(Deployments)))
	service, log = u.startsService() // which looks for old backups
	u.awaits("what becomes garbage later", s.gone(after))
	u.awaits("a line about what is left out", func() bool {
		return strings.Contains(log(), "left out, because the backups of the last day have used up the share of one namespace in --backup-max-size: namespace tenant")
	})
	service.stops(log)
	if !strings.Contains(u.backedUp(), `"name":"precious"`) {
		t.Error("the backup of another namespace is gone")
	}
	left := 0
	for _, o := range tenant {
		if s.Now(o) != nil {
			left++
		} else if !strings.Contains(u.backedUp(), `"name":"`+o.Name+`"`) {
			t.Errorf("%s was deleted, and its backup is gone", o.Name)
		}
	}
	if left == 0 || left == len(tenant) {
		t.Errorf("%d of %d objects of the namespace that exceeds its share are left", left, len(tenant))
	}
}

func TestBackupStaysWhileItsPreviewIsRead(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	u := newUser(t, s)
	first := s.Add(ownedBy(Secrets.Object("shop", "first"), missingOwner(Deployments)))
	service, log := u.startsService()
	u.awaits("the first backup", s.gone(first))
	service.stops(log)
	all, err := filepath.Glob(filepath.Join(u.home, ".kube", "gc-backup", "*", "controller-*"))
	u.must(err)
	if len(all) != 1 {
		t.Fatalf("backups: %v", all)
	}
	tty := u.startAtTerminal("restore", filepath.Base(all[0]))
	tty.awaitAny("Type")

	for i := range 2 { // the second looks for old backups, and the latest is that of the first
		o := s.Add(ownedBy(Secrets.Object("shop", fmt.Sprintf("next-%d", i)), missingOwner(Deployments)))
		time.Sleep(1100 * time.Millisecond)
		service, log = u.startsService("--backup-max-age", "1s")
		u.awaits("another backup", s.gone(o))
		service.stops(log)
	}
	if _, err := os.Stat(all[0]); err != nil {
		t.Error("the backup was removed while its preview was shown")
	}
	tty.press("no\n")
	tty.ends()
}

// The plan of a round is written to its backup. Its references filled that up to a limit, and each
// round failed for everybody.
func TestOneNamespaceWithLongReferencesDoesNotFailTheRoundOfOthers(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(Namespaces.Object("", "tenant"))
	references := manyReferences(100, "aaaaaaaa")
	for i := range references {
		references[i].Name += strings.Repeat("\x01", 1900)
	}
	for i := range 110 {
		s.Add(ownedBy(Secrets.Object("tenant", fmt.Sprint("long-", i)), references...))
	}
	other := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	service, log := newUser(t, s).startsService()
	service.awaits("the garbage of another namespace", s.gone(other))
	service.stops(log)
}

// A backup stores every step of its round. What a tenant's steps take does not count as of those whose objects
// were deleted in the same round.
func TestStepsOfOneNamespaceCountToItsOwnShare(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(s *Server, solid *Object){
		"references are removed": func(s *Server, solid *Object) {
			references := append(manyReferences(99, "aaaaaaaa"), referenceTo(solid))
			for i := range 99 {
				references[i].Name += strings.Repeat("x", 200)
			}
			for i := range 15 {
				s.Add(ownedBy(Secrets.Object("tenant", fmt.Sprint("unlinked-", i)), references...))
			}
		},
		"finalizers are removed": func(s *Server, _ *Object) {
			for i := range 600 {
				o := terminating(ConfigMaps.Object("tenant", fmt.Sprint(strings.Repeat("x", 200), i)))
				o.Finalizers = []string{metav1.FinalizerOrphanDependents}
				s.Add(o)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			s.Add(Namespaces.Object("", "tenant"))
			u := newUser(t, s)
			u.always = []string{"--backup-max-size", "4Mi"}
			solid := s.Add(ConfigMaps.Object("tenant", "solid"))
			precious := s.Add(ownedBy(Secrets.Object("bank", "precious"), missingOwner(Deployments)))
			for round := range 5 {
				add(s, solid)
				victim := s.Add(ownedBy(Secrets.Object("shop", fmt.Sprint("garbage-", round)), missingOwner(Deployments)))
				service, log := u.startsService() // which counts what is stored
				u.awaits("the garbage of other namespaces", s.gone(victim, precious))
				service.stops(log)
				if strings.Contains(log(), "namespace shop") {
					t.Fatalf("round %d: another namespace is left out:\n%s", round, short(log()))
				}
			}
			if !strings.Contains(u.backedUp(), `"name":"precious"`) {
				t.Error("the backup of another namespace is gone")
			}
		})
	}
}

// The objects of one namespace need more memory than there is. They are held without their owner references then: unknown,
// and each may be a reason for a finalizer to stay.
func TestOneNamespaceThatDoesNotFitIntoMemoryDoesNotStopTheServiceForOthers(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(Namespaces.Object("", "tenant"))
	s.Add(Namespaces.Object("", "shop"))
	released := s.Add(orphaning(ConfigMaps.Object("shop", "released")))
	orphaned := s.Add(orphaning(ConfigMaps.Object("tenant", "orphaned")))
	everywhere := s.Add(orphaning(Namespaces.Object("", "everywhere")))
	ordinary := s.Add(ownedBy(Secrets.Object("tenant", "ordinary"), missingOwner(Deployments)))
	for i := range 30 {
		references := manyReferences(10_000, fmt.Sprintf("%08x", i))
		references[5_000] = referenceTo([]*Object{orphaned, everywhere}[i%2])
		s.Add(ownedBy(Secrets.Object("tenant", fmt.Sprint("large-", i)), references...))
	}
	garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	service, log := newUser(t, s).startsService("--max-memory", "64Mi")
	service.awaits("the garbage of others, and of ordinary objects", s.gone(garbage, ordinary, released))
	late := s.Add(ownedBy(Secrets.Object("shop", "late"), missingOwner(Deployments)))
	service.awaits("what becomes garbage later", s.gone(late))
	s.Add(ownedBy(Secrets.Object("tenant", "later-large"), manyReferences(10_000, "aaaaaaaa")...))
	latest := s.Add(ownedBy(Secrets.Object("shop", "latest"), missingOwner(Deployments)))
	service.awaits("what becomes garbage at last", s.gone(latest))
	service.stops(log)
	for _, o := range []*Object{orphaned, everywhere} {
		if now := s.Now(o); now == nil || !slices.Contains(now.Finalizers, metav1.FinalizerOrphanDependents) {
			t.Errorf("%s was released, although not all of its dependents are known", o.Name)
		}
	}
	if !strings.Contains(log(), "could not read, and leaves alone what depends on it: namespace tenant (too-large)") {
		t.Errorf("the log does not say what is left alone:\n%s", short(log()))
	}
}
