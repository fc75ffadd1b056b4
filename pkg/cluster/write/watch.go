package write

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Follow tells what becomes of objects until the context ends: of each as it is
// now, and again whenever it changes; nil is gone or replaced. It tells one at a
// time, and of what is gone once. Types that may be listed are watched, others
// asked for one by one.
func (w *Writer) Follow(ctx context.Context, objects []object.Identity, tell func(types.UID, *object.Object)) {
	var mu sync.Mutex
	var each sync.WaitGroup
	for _, of := range w.watchBatches(objects) {
		f := &objectWatch{writer: w, query: of.Query, left: make(map[types.UID]object.Identity, len(of.Wanted))}
		for _, o := range of.Wanted {
			f.left[o.UID] = o
		}
		f.notify = func(uid types.UID, o *object.Object) {
			mu.Lock()
			defer mu.Unlock()
			tell(uid, o)
		}
		each.Go(func() { f.run(ctx) })
	}
	each.Wait()
}

// maxWatchedNamespaces is in how many namespaces a type is watched one by one, before
// it is watched in all of them.
const maxWatchedNamespaces = 10

// watchBatches divides objects by type and, where that is few, by namespace.
func (w *Writer) watchBatches(objects []object.Identity) []client.Batch {
	var out []client.Batch
	for _, ofKind := range client.GroupBy(objects, client.KindOf) {
		m, ok := w.view.Map(ofKind[0].APIVersion, ofKind[0].Kind)
		if !ok || !m.Served {
			continue
		}
		spaces := client.GroupBy(ofKind, client.KindInNamespace)
		if len(spaces) > maxWatchedNamespaces && w.view.Listed(m.Type.GroupResource(), "") {
			out = append(out, client.Batch{Query: client.Query{Type: m.Type}, Wanted: ofKind})
			continue
		}
		for _, inOne := range spaces {
			out = append(out, client.Batch{Query: client.Query{Type: m.Type, Namespace: inOne[0].Namespace}, Wanted: inOne})
		}
	}
	return out
}

// objectWatch is one watch, and the objects that it is for. It is the store of a
// reflector.
type objectWatch struct {
	writer *Writer
	query  client.Query
	left   map[types.UID]object.Identity // what is not known to be gone
	notify func(types.UID, *object.Object)
}

// run watches, and where that is not allowed, asks.
func (f *objectWatch) run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil && len(f.left) > 0 {
		watching, stop := context.WithCancel(ctx)
		err := cache.NewReflectorWithOptions(f.listWatch(), &metav1.PartialObjectMetadata{}, &watchStore{f, watching, stop}, cache.ReflectorOptions{}).ListAndWatchWithContext(watching)
		stop()
		switch {
		case ctx.Err() != nil || len(f.left) == 0:
			return
		case err == nil: // the server ends every watch after a while
			pause = firstPause
			continue
		case isLasting(client.ClassifyRequest(err)):
			f.poll(ctx)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(pause*2, longestPause)
	}
}

// poll reads the objects one by one, again and again.
func (f *objectWatch) poll(ctx context.Context) {
	for {
		for _, at := range f.left {
			if o, err := f.writer.Read(ctx, at); err == nil {
				f.changed(at.UID, o)
			}
		}
		if len(f.left) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(longestPause):
		}
	}
}

func (f *objectWatch) listWatch() *cache.ListWatch {
	t := f.query.Type
	of := f.writer.client.Metadata.Resource(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource}).Namespace(f.query.Namespace)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return of.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return of.Watch(ctx, o)
		},
	}
}

// changed tells of an object that was asked for; nil is gone.
func (f *objectWatch) changed(uid types.UID, o *object.Object) {
	if _, wanted := f.left[uid]; !wanted {
		return
	}
	if o == nil {
		delete(f.left, uid)
	}
	f.notify(uid, o)
}

// watchStore is a following as a reflector knows it: it ends the watch when nothing
// is left to be followed.
type watchStore struct {
	watch *objectWatch
	ctx   context.Context
	stop  context.CancelFunc
}

// isWatched reports whether what a watch shows is an object that is followed: its UID alone
// does not say so.
func (e *watchStore) isWatched(m *metav1.PartialObjectMetadata) bool {
	at, wanted := e.watch.left[m.UID]
	return wanted && at.Namespace == m.Namespace && at.Name == m.Name
}

// Add tells of an object.
func (e *watchStore) Add(any any) error {
	m, ok := any.(*metav1.PartialObjectMetadata)
	if !ok || !e.isWatched(m) {
		return nil
	}
	t := e.watch.query.Type
	if preferred := e.watch.writer.view.Versions(t.Group, t.Kind); len(preferred) > 0 {
		t = preferred[0]
	}
	o := object.FromMeta(t.APIVersion(), t.Kind, m, false)
	e.watch.changed(o.UID, &o)
	return nil
}

// Update tells of an object.
func (e *watchStore) Update(any any) error { return e.Add(any) }

// Delete tells that an object is gone.
func (e *watchStore) Delete(any any) error {
	if m, ok := any.(*metav1.PartialObjectMetadata); ok && e.isWatched(m) {
		e.watch.changed(m.UID, nil)
	}
	e.stopIfDone()
	return nil
}

// Replace tells of all that there is. A list that lacks an object does not prove that it
// is gone, so each of these is asked for.
func (e *watchStore) Replace(all []any, _ string) error {
	there := make(map[types.UID]bool, len(all))
	for _, any := range all {
		if m, ok := any.(*metav1.PartialObjectMetadata); ok {
			there[m.UID] = true
		}
		_ = e.Add(any)
	}
	for uid, at := range e.watch.left {
		if there[uid] {
			continue
		}
		o, err := e.watch.writer.Read(e.ctx, at)
		if err != nil {
			return err // the list is asked for again
		}
		e.watch.changed(uid, o)
	}
	e.stopIfDone()
	return nil
}

// Resync does nothing: what was told once is known.
func (e *watchStore) Resync() error { return nil }

func (e *watchStore) stopIfDone() {
	if len(e.watch.left) == 0 {
		e.stop()
	}
}

var _ cache.ReflectorStore = (*watchStore)(nil)
