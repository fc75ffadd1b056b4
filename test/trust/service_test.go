package trust

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// startsService starts the collector in service, with its output in a file that is returned.
func (u *user) startsService(args ...string) (p *process, log func() string) {
	u.Helper()
	path := filepath.Join(u.home, "log")
	file, err := os.Create(path)
	u.must(err)
	defer file.Close()
	args = append([]string{"collect", "--watch", "--yes", "--leader-elect=false", "--allow-running-collector"}, args...)
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
	err := wait.PollUntilContextTimeout(u.Context(), 20*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		u.Errorf("waiting for %s: %v", what, err)
	}
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
	gone := func(all []*Object) func() bool {
		return func() bool {
			for _, o := range all {
				if s.Now(o) != nil {
					return false
				}
			}
			return true
		}
	}
	u.awaits("the garbage of another namespace", gone(early))
	late := s.Add(ownedBy(Secrets.Object("shop", "late"), missingOwner(Deployments)))
	u.awaits("what becomes garbage later", gone([]*Object{late}))
	// A change of an object that is left out does not make it go alone.
	touched := *s.Now(tenant[0])
	touched.Labels = map[string]string{"touched": "yes"}
	s.Add(&touched)
	later := s.Add(ownedBy(Secrets.Object("shop", "later"), missingOwner(Deployments)))
	u.awaits("what becomes garbage still later", gone([]*Object{later}))
	service.stops(log)
	requireKept(t, s, tenant...)
	if n := strings.Count(log(), "left out, as more would be deleted at once than --max-deletes allows (30): namespace tenant (31 objects)"); n != 1 {
		t.Errorf("the log says %d times what is left out:\n%s", n, short(log()))
	}
}
