package cluster

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

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Follow tells what becomes of objects until the context ends: of each as it is
// now, and again whenever it changes; nil is gone or replaced. It tells one at a
// time, and of what is gone once. Types that may be listed are watched, others
// asked for one by one.
func (w *Writer) Follow(ctx context.Context, objects []object.Identity, tell func(types.UID, *object.Object)) {
	var mu sync.Mutex
	var each sync.WaitGroup
	for _, of := range w.followed(objects) {
		f := &following{Writer: w, of: of.job, left: make(map[types.UID]object.Identity, len(of.wanted))}
		for _, o := range of.wanted {
			f.left[o.UID] = o
		}
		f.tell = func(uid types.UID, o *object.Object) {
			mu.Lock()
			defer mu.Unlock()
			tell(uid, o)
		}
		each.Go(func() { f.run(ctx) })
	}
	each.Wait()
}

// mostNamespaces is in how many namespaces a type is watched one by one, before
// it is watched in all of them.
const mostNamespaces = 10

// followed divides objects by type and, where that is few, by namespace.
func (w *Writer) followed(objects []object.Identity) []share {
	var out []share
	for _, ofKind := range grouped(objects, kindOf) {
		m, ok := w.view.Map(ofKind[0].APIVersion, ofKind[0].Kind)
		if !ok || !m.Served {
			continue
		}
		spaces := grouped(ofKind, kindIn)
		if len(spaces) > mostNamespaces && w.view.Listed(m.Type.GroupResource(), "") {
			out = append(out, share{job{of: m.Type}, ofKind})
			continue
		}
		for _, inOne := range spaces {
			out = append(out, share{job{of: m.Type, namespace: inOne[0].Namespace}, inOne})
		}
	}
	return out
}

// following is one watch, and the objects that it is for. It is the store of a
// reflector.
type following struct {
	*Writer
	of   job
	left map[types.UID]object.Identity // what is not known to be gone
	tell func(types.UID, *object.Object)
}

// run watches, and where that is not allowed, asks.
func (f *following) run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil && len(f.left) > 0 {
		watching, stop := context.WithCancel(ctx)
		err := cache.NewReflectorWithOptions(f.source(), &metav1.PartialObjectMetadata{}, &ending{f, watching, stop}, cache.ReflectorOptions{}).ListAndWatchWithContext(watching)
		stop()
		switch {
		case ctx.Err() != nil || len(f.left) == 0:
			return
		case err == nil: // the server ends every watch after a while
			pause = firstPause
			continue
		case lasting(refused(err)):
			f.ask(ctx)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(pause*2, longestPause)
	}
}

// ask reads the objects one by one, again and again.
func (f *following) ask(ctx context.Context) {
	for {
		for _, at := range f.left {
			if o, err := f.Read(ctx, at); err == nil {
				f.now(at.UID, o)
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

func (f *following) source() *cache.ListWatch {
	t := f.of.of
	of := f.cluster.metadata.Resource(schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource}).Namespace(f.of.namespace)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return of.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return of.Watch(ctx, o)
		},
	}
}

// now tells of an object that was asked for; nil is gone.
func (f *following) now(uid types.UID, o *object.Object) {
	if _, wanted := f.left[uid]; !wanted {
		return
	}
	if o == nil {
		delete(f.left, uid)
	}
	f.tell(uid, o)
}

// ending is a following as a reflector knows it: it ends the watch when nothing
// is left to be followed.
type ending struct {
	*following
	ctx  context.Context
	stop context.CancelFunc
}

// about reports whether what a watch shows is an object that is followed: its UID alone
// does not say so.
func (e *ending) about(m *metav1.PartialObjectMetadata) bool {
	at, wanted := e.left[m.UID]
	return wanted && at.Namespace == m.Namespace && at.Name == m.Name
}

// Add tells of an object.
func (e *ending) Add(any any) error {
	m, ok := any.(*metav1.PartialObjectMetadata)
	if !ok || !e.about(m) {
		return nil
	}
	t := e.of.of
	if preferred := e.view.Versions(t.Group, t.Kind); len(preferred) > 0 {
		t = preferred[0]
	}
	o := object.FromMeta(t.APIVersion(), t.Kind, m, false)
	e.now(o.UID, &o)
	return nil
}

// Update tells of an object.
func (e *ending) Update(any any) error { return e.Add(any) }

// Delete tells that an object is gone.
func (e *ending) Delete(any any) error {
	if m, ok := any.(*metav1.PartialObjectMetadata); ok && e.about(m) {
		e.now(m.UID, nil)
	}
	e.check()
	return nil
}

// Replace tells of all that there is. A list that lacks an object does not prove that it
// is gone, so each of these is asked for.
func (e *ending) Replace(all []any, _ string) error {
	there := make(map[types.UID]bool, len(all))
	for _, any := range all {
		if m, ok := any.(*metav1.PartialObjectMetadata); ok {
			there[m.UID] = true
		}
		_ = e.Add(any)
	}
	for uid, at := range e.left {
		if there[uid] {
			continue
		}
		o, err := e.Read(e.ctx, at)
		if err != nil {
			return err // the list is asked for again
		}
		e.now(uid, o)
	}
	e.check()
	return nil
}

// Resync does nothing: what was told once is known.
func (e *ending) Resync() error { return nil }

func (e *ending) check() {
	if len(e.left) == 0 {
		e.stop()
	}
}

var _ cache.ReflectorStore = (*ending)(nil)
