package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// The pauses before a type is listed again, or before another attempt to watch it.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
	// stableAfter is how long a type has to be watched before its next pause is the first again.
	stableAfter = 10 * time.Second
)

// errShortWatch reports that two watches in a row ended at once.
var errShortWatch = errors.New("could not be watched: every watch ends soon after it began")

// typeMonitor lists and watches the objects of one query by a reflector, whose store it is. An object is
// never modified, only replaced.
type typeMonitor struct {
	parent *Monitor
	query  client.Query
	labels bool
	ctx    context.Context
	cancel context.CancelFunc
	// synced is closed once the objects were complete or have failed to be.
	synced     chan struct{}
	closeFirst sync.Once

	// A reflector that ends does not wait for its list. The next one must not begin before that has stored
	// its objects, or has noticed that it ended.
	listing *semaphore.Weighted
	listed  bool // at least once; guarded by listing

	mu      sync.Mutex
	endList context.CancelFunc // ends the present list and watch; another begins after a pause
	objects []*object.Object   // in the order of comparePlaces
	version string             // resourceVersion up to which the objects are complete
	err     error              // why they are not complete
	closed  bool
}

var _ cache.ReflectorStore = (*typeMonitor)(nil)

func newTypeMonitor(m *Monitor, q client.Query) *typeMonitor {
	t := &typeMonitor{parent: m, query: q, labels: m.options.Scope.Labels && q.FieldSelector == "", listing: semaphore.NewWeighted(1), synced: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(m.ctx)
	return t
}

// run lists and watches until the context ends.
func (t *typeMonitor) run() {
	defer t.close()
	defer t.cancel()
	listWatch := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: t.list, WatchFuncWithContext: t.watch}, t)
	options := cache.ReflectorOptions{
		Name:    t.query.Type.String(),
		Backoff: &wait.Backoff{Duration: firstPause, Factor: 2, Jitter: 0.5, Steps: 10, Cap: longestPause},
	}
	ctx := klog.NewContext(t.ctx, klog.Logger{}) // no logs: every error is a gap, or is counted
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		started := time.Now()
		present, end := context.WithCancel(ctx)
		t.mu.Lock()
		t.endList = end
		t.mu.Unlock()
		_ = cache.NewReflectorWithOptions(listWatch, nil, t, options).ListAndWatchWithContext(present)
		end()
		if time.Since(started) > stableAfter {
			pause = firstPause
		} else if pause > firstPause && t.ctx.Err() == nil && t.failure() == nil {
			t.fail(errShortWatch)
		}
		if client.Wait(t.ctx, wait.Jitter(pause, 0.5)) != nil {
			return
		}
	}
}

// relist lists and watches again.
func (t *typeMonitor) relist() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.endList != nil {
		t.endList()
	}
}

// IsWatchListSemanticsUnSupported makes the reflector list instead of watching from an empty
// resourceVersion: only lists are verified as a whole, and their memory is bounded.
func (t *typeMonitor) IsWatchListSemanticsUnSupported() bool { return true }

// list puts the objects of a list into the store, and returns an empty list of the same
// resourceVersion: the reflector would copy the objects twice.
func (t *typeMonitor) list(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	if err := t.listing.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer t.listing.Release(1)
	if err := t.parent.lists.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer t.parent.lists.Release(1)
	if t.listed {
		t.parent.relists.Add(1)
	}
	t.listed = true
	a := t.parent.client.List(ctx, t.query, t.labels)
	if ctx.Err() == nil && a.Err == nil {
		t.replace(a.Objects, a.ResourceVersion)
		return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: a.ResourceVersion}}, nil
	}
	t.parent.client.Memory.Drop(a.Objects...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	t.fail(a.Err)
	return nil, a.Err
}

// watch starts a watch whose events are verified. As soon as it is established, the objects are
// complete.
func (t *typeMonitor) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := t.parent.client.Watch(ctx, t.query, o, t.verify)
	switch {
	case err == nil:
		t.setErr(nil)
	case ctx.Err() == nil:
		t.endWatch(err)
	}
	return w, err
}

// endWatch counts a failed watch. The type is a gap until a list and a watch succeed, unless the server
// has merely dropped the events since the last one (410).
func (t *typeMonitor) endWatch(err error) {
	t.parent.watchErrors.Add(1)
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.fail(fmt.Errorf("could not be watched: %w", err))
	}
}

// verify replaces an event that is not what was asked for by an error, which ends the watch.
func (t *typeMonitor) verify(event watch.Event) (watch.Event, bool) {
	if t.ctx.Err() != nil {
		return event, false
	}
	if event.Type == watch.Error {
		err := apierrors.FromObject(event.Object)
		if client.IsConnectionError(err) {
			return event, false // the watch ends, and goes on in another connection after the last event
		}
		t.endWatch(err)
		return event, true
	}
	if err := t.verifyEvent(event); err != nil {
		t.endWatch(err)
		return watch.Event{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}}, true
	}
	return event, true
}

func (t *typeMonitor) verifyEvent(event watch.Event) error {
	m, ok := event.Object.(*metav1.PartialObjectMetadata)
	if !ok {
		return client.ErrNoMetadata
	}
	// the decoder accepts only metadata here, and then leaves out its kind
	if m.Kind != "" || m.APIVersion != "" {
		if err := client.VerifyKind(m.TypeMeta, t.query.Type, "", true); err != nil {
			return err
		}
	}
	switch event.Type {
	case watch.Bookmark:
		if m.ResourceVersion == "" {
			return client.NewAnswerError("a bookmark has no resourceVersion")
		}
		return nil
	case watch.Added, watch.Modified, watch.Deleted:
		if err := client.VerifyObject(t.query, m.Namespace, m.Name, string(m.UID), m.ResourceVersion); err != nil {
			return err
		}
		return t.verifyOrder(m, event.Type == watch.Deleted)
	case watch.Error: // has no object
	}
	return client.NewAnswerError("a watch has an event of type %q", event.Type)
}

// Add stores an object.
func (t *typeMonitor) Add(item any) error { return t.apply(item, t.put) }

// Update stores an object.
func (t *typeMonitor) Update(item any) error { return t.apply(item, t.put) }

// Delete removes an object.
func (t *typeMonitor) Delete(item any) error { return t.apply(item, t.remove) }

// apply passes the object of a verified event on.
func (t *typeMonitor) apply(item any, change func(*object.Object)) error {
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	m := item.(*metav1.PartialObjectMetadata)
	o := object.FromMeta(t.query.Type.APIVersion(), t.query.Type.Kind, m, t.labels)
	t.parent.client.Keep(&o)
	change(&o)
	if of := t.query.Type.GroupResource(); of == discovery.Definitions.GroupResource() || of == discovery.APIServices.GroupResource() {
		t.parent.rediscover() // the types may change with its status
	}
	return nil
}

// Replace does nothing, as list has stored the objects.
func (t *typeMonitor) Replace([]any, string) error { return nil }

// Resync does nothing.
func (t *typeMonitor) Resync() error { return nil }
