package simulation

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// day is one simulated day.
type day struct {
	seed   uint64
	server *apiserver.Server
	judge  *judge
	dir    string // of the backups
	begun  time.Time
	slots  map[string]*slot

	// mu is held while the server handles a request, or users change something, and the judge sees it.
	mu      sync.Mutex
	weather []weather
	watches map[int]openWatch
	opened  int
	lives   []*life
	counts  counts
	failed  []string
	uids    map[int][]types.UID // of the objects of users, by number: all UIDs that it has had, the latest last
	writes  time.Time           // when an instance last wrote something but a Lease
}

// counts are how often each kind of thing happened.
type counts map[string]int

func (c counts) add(other counts) {
	for what, n := range other {
		c[what] += n
	}
}

func (c counts) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "%8d %s\n", c[what], what)
	}
	return b.String()
}

type openWatch struct {
	slot   string
	cancel func()
}

// outcome is what a day left.
type outcome struct {
	failures []string
	counts   counts
	lives    []*life
	left     scenario.Scenario // on the server
}

// said returns what the command printed in all lives.
func (o outcome) said() string {
	var b strings.Builder
	for _, l := range o.lives {
		fmt.Fprintf(&b, "%s:\n%s", l.name, l.said.String())
	}
	return b.String()
}

// The types of users' objects, by the remainder of their number.
var (
	widgets = customType("widgets", "Widget", true)
	gadgets = customType("gadgets", "Gadget", false)
	kinds   = []*apiserver.Type{apiserver.ConfigMaps, apiserver.Secrets, apiserver.Pods, widgets, gadgets}
	leaseOf = apiserver.Namespaced("coordination.k8s.io", "leases", "Lease")
)

func customType(resource, kind string, namespaced bool) *apiserver.Type {
	t := apiserver.Namespaced(resource+".example.com", resource, kind)
	t.Namespaced, t.Custom = namespaced, true
	return t
}

// run simulates a day. The outcome has no findings of upstream's collector yet.
func run(t *testing.T, seed uint64, s script) (out outcome) {
	dir := inMemory(t)
	defer os.RemoveAll(dir)
	synctest.Test(t, func(t *testing.T) {
		d := newDay(seed, dir)
		d.run(t.Context(), s)
		if n := d.server.Watches.Load(); n != 0 {
			d.fail(fmt.Sprintf("%d watches are open after the end", n))
		}
		out = outcome{append(d.judge.failures(), d.failed...), d.counts, d.lives, snapshotOf(d.server)}
	})
	return out
}

func newDay(seed uint64, dir string) *day {
	d := &day{seed: seed, dir: dir, begun: time.Now(), watches: map[int]openWatch{}, counts: counts{}, uids: map[int][]types.UID{}, slots: map[string]*slot{}}
	for _, name := range []string{"a", "b"} {
		d.slots[name] = &slot{name: name, changed: make(chan struct{}, 1)}
	}
	d.server = apiserver.New([]*apiserver.Type{
		apiserver.Namespaces, apiserver.ConfigMaps, apiserver.Secrets, apiserver.Pods, apiserver.CRDs, apiserver.APIServices, apiserver.AccessReviews, leaseOf, gadgets,
	})
	d.server.Controllers, d.server.Clock = true, time.Now
	for _, name := range append([]string{"kube-system"}, namespaces...) {
		d.server.Add(apiserver.Namespaces.Object("", name))
	}
	d.server.Add(widgets.Definition())
	d.judge = newJudge(d.server)
	return d
}

// calm is how long nothing happens at the end of a day until the collector must be at rest. Its longest pauses
// are of a minute, but it notices only after up to ten and a half minutes that a watch is silent.
const calm, calmAfterSilence = 3 * time.Minute, 12 * time.Minute

// run carries out the steps, and then waits until the collector must be at rest.
func (d *day) run(ctx context.Context, s script) {
	ctx, end := context.WithCancel(ctx)
	var slots sync.WaitGroup
	for _, s := range d.slots {
		slots.Go(func() { d.keepRunning(ctx, s) })
	}
	for _, step := range s {
		time.Sleep(time.Until(d.begun.Add(step.at)))
		d.mu.Lock()
		if err := d.step(step); err != nil {
			d.failed = append(d.failed, fmt.Sprintf("step %s: %v", step, err))
		}
		d.judge.observeOthers()
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.repair()
	calm := calm
	if d.counts[string(silence)] > 0 {
		calm = calmAfterSilence
	}
	d.mu.Unlock()
	time.Sleep(calm)
	d.mu.Lock()
	if since := time.Since(d.writes); since < time.Minute && !d.writes.IsZero() {
		d.failed = append(d.failed, fmt.Sprintf("the collector is not at rest %s after the last fault: it wrote %s ago", calm, since))
	}
	if n, most := int(d.server.Watches.Load()), len(d.server.Types()); n > most {
		d.failed = append(d.failed, fmt.Sprintf("%d watches are open at rest, and one instance needs %d", n, most))
	}
	d.mu.Unlock()
	end()
	slots.Wait()
}

// repair ends all faults.
func (d *day) repair() {
	d.weather = nil
	if !d.serves(gadgets) {
		d.server.Serve(gadgets)
	}
	if !d.serves(widgets) {
		d.server.Add(widgets.Definition())
	}
	for _, s := range d.slots {
		d.want(s, true)
	}
	d.judge.observeOthers()
}

func (d *day) serves(t *apiserver.Type) bool {
	_, err := d.server.List(t.GroupVersionResource, "")
	return err == nil
}

func (d *day) want(s *slot, wanted bool) {
	s.wanted = wanted
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (d *day) fail(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed = append(d.failed, what)
}

func (d *day) count(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.countLocked(what)
}

func (d *day) countLocked(what string) { d.counts[what]++ }

// remember keeps a watch that can be ended by a fault, until the returned function is called.
func (d *day) remember(l *life, cancel func()) (forget func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened++
	n := d.opened
	d.watches[n] = openWatch{l.slot, cancel}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watches, n)
	}
}

// observe counts what an instance did, and remembers what has to be in its backups. The caller holds mu.
func (d *day) observe(l *life, m *message, h handled) {
	if h.before == h.after || m.class == locks {
		return
	}
	d.writes = h.at
	d.countLocked("write: " + string(m.class))
	if m.class != deletes {
		l.patched[h.path] = true
		return
	}
	one := deletionOf(h.path, h.body)
	one.patched, one.changes = l.patched[h.path], l.disk.length()
	l.deletions = append(l.deletions, one)
}
