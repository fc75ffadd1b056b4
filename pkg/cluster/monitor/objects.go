package monitor

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// comparePlaces orders the objects of one type as object.Identity.Compare does.
func comparePlaces(a, b *object.Object) int {
	if a.Namespace != b.Namespace {
		return strings.Compare(a.Namespace, b.Namespace)
	}
	return strings.Compare(a.Name, b.Name)
}

// result returns the objects, or if selected is not nil those of this monitor in it, as a list does. They are left
// out while they may be out of date.
func (t *typeMonitor) result(selected map[*typeMonitor][]*object.Object) client.ListResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return client.ListResult{Err: t.err}
	case selected != nil:
		return client.ListResult{Objects: selected[t], ResourceVersion: t.version}
	}
	return client.ListResult{Objects: slices.Clone(t.objects), ResourceVersion: t.version}
}

// find returns the object at a place, or nil.
func (t *typeMonitor) find(namespace, name string) *object.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := &object.Object{Identity: object.Identity{Namespace: namespace, Name: name}}
	if i, found := slices.BinarySearchFunc(t.objects, at, comparePlaces); found {
		return t.objects[i]
	}
	return nil
}

func (t *typeMonitor) size() (objects int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.objects), t.err
}

func (t *typeMonitor) failure() error {
	_, err := t.size()
	return err
}

// fail records that the objects may be out of date.
func (t *typeMonitor) fail(err error) {
	var full *client.MemoryError
	if errors.As(err, &full) {
		t.parent.fail(full)
	}
	t.setErr(err)
	if class, _ := client.Classify(err); class == snapshot.Vanished {
		t.parent.rediscover()
	}
}

// setErr records why the objects may be out of date; nil if a list and a watch have succeeded.
func (t *typeMonitor) setErr(err error) {
	t.mu.Lock()
	if t.closed {
		err = errNotServed
	}
	same := err == nil && t.err == nil || err != nil && t.err != nil && err.Error() == t.err.Error()
	t.err = err
	t.mu.Unlock()
	t.closeFirst.Do(func() {
		same = false
		close(t.synced)
	})
	if !same {
		t.parent.notify()
	}
}

// replace takes the objects of a new list, which the memory limit counts already.
func (t *typeMonitor) replace(objects []*object.Object, version string) {
	slices.SortStableFunc(objects, comparePlaces)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		t.parent.client.Memory.Drop(objects...)
		return
	}
	differs := !slices.EqualFunc(t.objects, objects, func(a, b *object.Object) bool { return !t.matters(a, b) })
	t.parent.client.Memory.Drop(t.objects...)
	t.parent.index.replace(t, t.objects, objects)
	t.objects, t.version = objects, version
	if differs {
		t.parent.notify()
	}
}

// put stores an object after an event.
func (t *typeMonitor) put(o *object.Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if err := t.parent.client.Memory.Hold(o); err != nil {
		t.parent.fail(err)
	}
	i, found := slices.BinarySearchFunc(t.objects, o, comparePlaces)
	if !found {
		t.objects = slices.Insert(t.objects, i, o)
		t.parent.index.replace(t, nil, []*object.Object{o})
		t.changed(o)
		return
	}
	old := t.objects[i]
	t.parent.client.Memory.Drop(old)
	share(o, old)
	t.objects[i] = o
	t.parent.index.replace(t, []*object.Object{old}, []*object.Object{o})
	if t.matters(old, o) {
		t.changed(old, o)
	}
}

// remove removes an object after an event.
func (t *typeMonitor) remove(o *object.Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, found := slices.BinarySearchFunc(t.objects, o, comparePlaces)
	if t.closed || !found {
		return
	}
	old := t.objects[i]
	t.parent.client.Memory.Drop(old)
	t.objects = slices.Delete(t.objects, i, i+1)
	t.parent.index.replace(t, []*object.Object{old}, nil)
	t.changed(old)
}

// close releases the objects. No event changes the store any more, and it has no list for a snapshot that
// still asks for one.
func (t *typeMonitor) close() {
	t.mu.Lock()
	t.parent.client.Memory.Drop(t.objects...)
	t.parent.index.replace(t, t.objects, nil)
	t.objects, t.closed = nil, true
	t.mu.Unlock()
	t.setErr(errNotServed)
}

// errNotServed is why a monitor that has ended has no objects.
var errNotServed = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "it is not served any more",
}}

// verifyOrder returns an error if an event would bring back an earlier state of an object, or
// deletes another object than the one that is known.
func (t *typeMonitor) verifyOrder(m *metav1.PartialObjectMetadata, deleted bool) error {
	known := t.find(m.Namespace, m.Name)
	switch {
	case known == nil:
		return nil
	case deleted && known.UID != m.UID:
		return client.NewAnswerError("an event says that %q is deleted, with another UID", m.Name)
	case known.ResourceVersion != m.ResourceVersion && client.NotAfter(m.ResourceVersion, known.ResourceVersion):
		return client.NewAnswerError("an event is of resourceVersion %s of %q, and %s was seen before", m.ResourceVersion, m.Name, known.ResourceVersion)
	}
	return nil
}

// UpdateResourceVersion records up to which resourceVersion all events were stored. The reflector
// calls it after every event.
func (t *typeMonitor) UpdateResourceVersion(version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version = version
}

// changed reports a change of an object that matters, by its states before and after.
func (t *typeMonitor) changed(states ...*object.Object) {
	t.parent.index.mark(states...)
	t.parent.signal()
}

// matters reports whether a change of an object may change an answer of the rules. Status and
// resourceVersion do not, except while a Namespace or a Pod is being deleted: there the status
// says how far that is.
func (t *typeMonitor) matters(old, o *object.Object) bool {
	reports := o.Terminating() && (o.IsNamespace() || o.IsPod())
	return old.Identity != o.Identity || !old.Created.Equal(o.Created) ||
		!equal(old.Deleted, o.Deleted) || !equal(old.GraceSeconds, o.GraceSeconds) ||
		!slices.EqualFunc(old.Owners, o.Owners, object.Reference.Equal) || !slices.Equal(old.Finalizers, o.Finalizers) ||
		!maps.Equal(old.Labels, o.Labels) || reports && old.ResourceVersion != o.ResourceVersion
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// share lets an object share with its earlier state what did not change. Decoding an event
// allocates everything once more.
func share(o, old *object.Object) {
	if o.Identity == old.Identity {
		o.Identity = old.Identity
	}
	if slices.EqualFunc(old.Owners, o.Owners, object.Reference.Equal) {
		o.Owners = old.Owners
	}
	if slices.Equal(old.Finalizers, o.Finalizers) {
		o.Finalizers = old.Finalizers
	}
	if maps.Equal(old.Labels, o.Labels) {
		o.Labels = old.Labels
	}
}
