package write

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Watch calls tell with the current state of each object and again after each change, until the
// context ends; nil means gone or replaced and is final. It never calls tell concurrently. Types
// that can be listed are watched, others are polled.
func (w *Writer) Watch(ctx context.Context, objects []object.Identity, tell func(types.UID, *object.Object)) {
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

// maxWatchedNamespaces limits how many namespaces are watched one by one before a type is watched
// in all.
const maxWatchedNamespaces = 10

// watchBatches divides the objects by type and, if those are few, by namespace.
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

// objectWatch watches the objects of one batch. It is the store to which a reflector reports.
type objectWatch struct {
	writer *Writer
	query  client.Query
	left   map[types.UID]object.Identity // not known to be gone
	notify func(types.UID, *object.Object)
	ctx    context.Context // of the reflector, which does not pass one on
	stop   func()          // ends the reflector
}

var _ cache.ReflectorStore = (*objectWatch)(nil)

// run watches the objects. Where that is not allowed, it reads them from time to time.
func (f *objectWatch) run(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil && len(f.left) > 0; pause = min(pause*2, longestPause) {
		f.ctx, f.stop = context.WithCancel(ctx)
		reflector := cache.NewReflectorWithOptions(f.writer.client.ListWatch(f.query), &metav1.PartialObjectMetadata{}, f, cache.ReflectorOptions{})
		err := reflector.ListAndWatchWithContext(f.ctx)
		if err != nil && f.ctx.Err() == nil && isLasting(client.ClassifyRequest(err)) {
			_ = f.read(nil) // again after the pause
			pause = longestPause
		}
		ended := f.ctx.Err() != nil
		f.stop()
		switch {
		case ended:
			return
		case err == nil: // servers end every watch after a while
			pause = firstPause
		case client.Wait(ctx, pause) != nil:
			return
		}
	}
}

// read reads the objects that are not known to be there, one by one.
func (f *objectWatch) read(there map[types.UID]bool) (failed error) {
	for uid, at := range f.left {
		if there[uid] {
			continue
		}
		o, err := f.writer.Read(f.ctx, at)
		if err != nil {
			failed = err
			continue
		}
		f.changed(uid, o)
	}
	return failed
}

// changed reports the state of an object; nil means gone. It stops the reflector when no object is
// left.
func (f *objectWatch) changed(uid types.UID, o *object.Object) {
	if _, wanted := f.left[uid]; !wanted {
		return
	}
	if o == nil {
		delete(f.left, uid)
	}
	f.notify(uid, o)
	if len(f.left) == 0 {
		f.stop()
	}
}

// isWatched reports whether an event is about a watched object. The UID alone does not prove
// that.
func (f *objectWatch) isWatched(m *metav1.PartialObjectMetadata) bool {
	at, wanted := f.left[m.UID]
	return wanted && at.Namespace == m.Namespace && at.Name == m.Name
}

// Add reports an object.
func (f *objectWatch) Add(item any) error {
	m, ok := item.(*metav1.PartialObjectMetadata)
	if !ok || !f.isWatched(m) {
		return nil
	}
	t := f.query.Type
	if preferred := f.writer.view.Versions(t.Group, t.Kind); len(preferred) > 0 {
		t = preferred[0]
	}
	o := object.FromMeta(t.APIVersion(), t.Kind, m, false)
	f.changed(o.UID, &o)
	return nil
}

// Update reports an object.
func (f *objectWatch) Update(item any) error { return f.Add(item) }

// Delete reports that an object is gone.
func (f *objectWatch) Delete(item any) error {
	if m, ok := item.(*metav1.PartialObjectMetadata); ok && f.isWatched(m) {
		f.changed(m.UID, nil)
	}
	return nil
}

// Replace reports the objects of a new list. Objects that the list lacks are read one by one,
// since a list does not prove absence.
func (f *objectWatch) Replace(all []any, _ string) error {
	there := make(map[types.UID]bool, len(all))
	for _, item := range all {
		if m, ok := item.(*metav1.PartialObjectMetadata); ok {
			there[m.UID] = true
		}
		_ = f.Add(item)
	}
	return f.read(there) // after an error, the reflector lists again
}

// Resync does nothing.
func (f *objectWatch) Resync() error { return nil }
