// Package monitor keeps a live copy of a cluster's metadata. A monitor per type lists it once and
// watches it from then on, as the garbage collector does. A snapshot of the copy equals that of a
// scan at the same time, so the same rules apply to it.
package monitor

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// DefaultDiscoveryInterval is how often types are discovered again, as in the garbage collector.
const DefaultDiscoveryInterval = 30 * time.Second

// discoveryDelay is the pause between an event that may change the types and their discovery, and
// between two attempts at a discovery that fails.
const discoveryDelay = time.Second

// ErrStopped reports that the Monitor was stopped.
var ErrStopped = errors.New("the monitor was stopped")

// Settings configures a Monitor.
type Settings struct {
	Scope             scan.Scope
	DiscoveryInterval time.Duration    // 0: DefaultDiscoveryInterval
	Now               func() time.Time // nil: time.Now
}

// Monitor keeps a live copy of what a scan of its scope would read. It is safe for concurrent use.
type Monitor struct {
	client  *client.Client      // counts the memory of all objects
	lists   *semaphore.Weighted // limits the lists in flight
	options Settings
	memo    *scan.Memo

	ctx      context.Context // ends with the Monitor; its cause is why
	cancel   context.CancelCauseFunc
	all      sync.WaitGroup
	changed  chan struct{}
	discover chan struct{} // the types may have changed
	turn     chan struct{} // held by the one snapshot under way
	index    *index        // nil if the scope has namespaces

	relists, watchErrors atomic.Int64 // see Stats

	mu           sync.Mutex
	discovered   *discovery.Catalog
	discoveryErr error // of the last attempt
	monitors     map[key]*typeMonitor
}

// Stats counts what a Monitor holds and what it did so far.
type Stats struct {
	Monitors    int   // types, or types in a namespace, that are watched
	Objects     int   // objects held
	Bytes       int64 // memory counted for them
	Gaps        int   // monitors that could not list or watch
	Relists     int64 // lists after the first of each monitor
	WatchErrors int64 // watches that could not be established or ended with an error
}

// key identifies a monitor. A type that changes in any of these gets another monitor.
type key struct {
	snapshot.Listing
	version, kind, selector string
	namespaced              bool
}

func keyOf(q client.Query) key {
	return key{q.Listing(), q.Type.Version, q.Type.Kind, q.FieldSelector, q.Type.Namespaced}
}

// Start discovers the types and starts a monitor for each, until ctx ends. An error is that of
// discovery.
func Start(ctx context.Context, c *client.Client, o Settings) (*Monitor, error) {
	if o.DiscoveryInterval <= 0 {
		o.DiscoveryInterval = DefaultDiscoveryInterval
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	discovered, err := discovery.Discover(ctx, c.WithOwnMemory())
	if err != nil {
		return nil, err
	}
	c = c.WithOwnMemory().ForServer(discovered.Server)
	m := &Monitor{
		client: c, lists: semaphore.NewWeighted(int64(c.Config.Concurrency)), options: o, memo: scan.NewMemo(), discovered: discovered, monitors: map[key]*typeMonitor{},
		changed: make(chan struct{}, 1), discover: make(chan struct{}, 1), turn: make(chan struct{}, 1),
	}
	if o.Scope.Namespaces == nil {
		m.index = newIndex()
	}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	m.ensure(m.queries(discovered)...)
	m.all.Go(m.repeatDiscovery)
	return m, nil
}

// Stop ends all monitors and waits for that.
func (m *Monitor) Stop() {
	m.cancel(ErrStopped)
	m.all.Wait()
}

// Changed receives a value after changes that may matter to the rules of the collector: of objects,
// types or gaps. Several changes may give one value. A change of a resourceVersion alone gives
// none.
func (m *Monitor) Changed() <-chan struct{} { return m.changed }

func (m *Monitor) notify() {
	m.index.markEverything()
	m.signal()
}

func (m *Monitor) signal() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// WaitForSync waits until every type was listed or failed once.
func (m *Monitor) WaitForSync(ctx context.Context) error {
	m.mu.Lock()
	queries := m.queries(m.discovered)
	m.mu.Unlock()
	for _, t := range m.ensure(queries...) {
		if err := m.wait(ctx, t.synced); err != nil {
			return err
		}
	}
	return nil
}

// snapshotOf returns a snapshot of the selected objects, nil for all objects. It makes one at a time.
func (m *Monitor) snapshotOf(ctx context.Context, selected map[*typeMonitor][]*object.Object) (Changes, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return Changes{}, ctx.Err()
	}
	m.mu.Lock()
	discovered, err := m.discovered, m.discoveryErr
	complete := make(map[snapshot.Listing]*typeMonitor, len(m.monitors))
	m.mu.Unlock()
	switch {
	case m.ctx.Err() != nil:
		return Changes{}, context.Cause(m.ctx)
	case err != nil:
		return Changes{}, err
	}
	live := &liveLists{Monitor: m, selected: selected, complete: complete}
	s, err := scan.RunLive(ctx, scan.Live{Lists: live, Memo: m.memo, Part: selected != nil}, m.client, discovered, m.options.Scope, m.options.Now)
	if err == nil {
		live.relistContradicted(s)
	}
	return Changes{Snapshot: s, Mapper: discovered.Mapper}, err
}

// liveLists are the live lists of a Monitor, for one snapshot.
type liveLists struct {
	*Monitor
	selected map[*typeMonitor][]*object.Object // nil for all objects
	complete map[snapshot.Listing]*typeMonitor
}

var _ scan.Lists = (*liveLists)(nil)

// ListAll returns the live lists. A list that was not requested before is monitored from now on.
func (l *liveLists) ListAll(ctx context.Context, queries []client.Query, _ bool) ([]client.ListResult, error) {
	out := make([]client.ListResult, len(queries))
	for i, t := range l.ensure(queries...) {
		if err := l.wait(ctx, t.synced); err != nil {
			return nil, err
		}
		if out[i] = t.result(l.selected); out[i].Err == nil && t.query.FieldSelector == "" {
			l.complete[t.query.Listing()] = t
		}
	}
	return out, nil
}

// Find returns the object that a list has at a place now, or nil.
func (l *liveLists) Find(at snapshot.Listing, namespace, name string) *object.Object {
	if t := l.complete[at]; t != nil {
		return t.find(namespace, name)
	}
	return nil
}

// relistContradicted lists the types again whose lists the snapshot does not trust. If that has only a
// part of the objects, everything is decided again.
func (l *liveLists) relistContradicted(s *snapshot.Snapshot) {
	for _, at := range s.Listed {
		delete(l.complete, at)
	}
	for _, t := range l.complete {
		t.relist()
	}
	if len(l.complete) > 0 && l.selected != nil {
		l.notify()
	}
}

// Stats returns the current counts.
func (m *Monitor) Stats() Stats {
	s := Stats{Bytes: m.client.Memory.Held(), Relists: m.relists.Load(), WatchErrors: m.watchErrors.Load()}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Monitors = len(m.monitors)
	for _, t := range m.monitors {
		objects, err := t.size()
		s.Objects += objects
		if err != nil {
			s.Gaps++
		}
	}
	return s
}

// queries returns the lists that are monitored from the start.
func (m *Monitor) queries(d *discovery.Catalog) []client.Query {
	return scan.Queries(d.Types, m.options.Scope.Namespaces)
}

// ensure returns the monitors of the queries and starts those that are missing.
func (m *Monitor) ensure(queries ...client.Query) []*typeMonitor {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]*typeMonitor, len(queries))
	for i, q := range queries {
		t := m.monitors[keyOf(q)]
		if t == nil {
			t = newTypeMonitor(m, q)
			m.monitors[keyOf(q)] = t
			m.all.Go(t.run)
		}
		out[i] = t
	}
	return out
}

// wait waits for the channel to be closed. After the end of the Monitor, it returns why that ended.
func (m *Monitor) wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return context.Cause(m.ctx)
	case <-ctx.Done():
		return ctx.Err()
	case <-m.ctx.Done():
		return context.Cause(m.ctx)
	}
}

// fail ends the Monitor with an error.
func (m *Monitor) fail(err error) {
	m.cancel(err)
	m.notify()
}

// rediscover discovers the types soon.
func (m *Monitor) rediscover() {
	select {
	case m.discover <- struct{}{}:
	default:
	}
}

// repeatDiscovery discovers the types again and again.
func (m *Monitor) repeatDiscovery() {
	pause := m.options.DiscoveryInterval
	for {
		timer := time.NewTimer(wait.Jitter(pause, 0.1))
		select {
		case <-m.ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-m.discover:
			timer.Stop()
			if client.Wait(m.ctx, min(discoveryDelay, m.options.DiscoveryInterval)) != nil {
				return
			}
		}
		discovered, err := discovery.Discover(m.ctx, m.client.WithOwnMemory())
		if m.ctx.Err() != nil {
			return
		}
		m.adopt(discovered, err)
		if pause = m.options.DiscoveryInterval; err != nil {
			pause = min(discoveryDelay, pause)
		}
		if m.memo.Expired(m.options.Now()) {
			m.notify()
		}
	}
}

// adopt starts and ends monitors as the types require.
func (m *Monitor) adopt(discovered *discovery.Catalog, err error) {
	m.mu.Lock()
	changed := (err == nil) != (m.discoveryErr == nil)
	m.discoveryErr = err
	same := err != nil || reflect.DeepEqual(m.discovered.Types, discovered.Types)
	var gone []*typeMonitor
	if err == nil {
		changed = changed || !same || !slices.EqualFunc(m.discovered.Gaps, discovered.Gaps, snapshot.Gap.Equal)
		m.discovered = discovered
		served := map[key]bool{}
		for _, q := range scan.Queries(discovered.Types, nil) {
			served[keyOf(q)] = true
		}
		for k, t := range m.monitors { // a snapshot of earlier types may have started one since the last discovery
			if k.Namespace, k.selector = "", ""; !served[k] {
				delete(m.monitors, keyOf(t.query))
				gone = append(gone, t)
			}
		}
	}
	m.mu.Unlock()
	for _, t := range gone {
		t.cancel()
	}
	if !same {
		m.memo.Clear()
		m.ensure(m.queries(discovered)...)
	}
	if changed {
		m.notify()
	}
}
