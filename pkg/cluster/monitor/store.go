package monitor

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// store holds the objects of one query. An object is never modified, only replaced.
type store struct {
	parent *Monitor
	query  client.Query
	labels bool
	// synced is closed once the objects were complete or have failed to be.
	synced     chan struct{}
	closeFirst sync.Once

	mu      sync.Mutex
	objects []*object.Object // in the order of comparePlaces
	version string           // resourceVersion up to which the objects are complete
	err     error            // why they are not complete
	closed  bool
}

func newStore(m *Monitor, q client.Query) *store {
	return &store{parent: m, query: q, labels: m.options.Scope.Labels && q.FieldSelector == "", synced: make(chan struct{})}
}

// comparePlaces orders the objects of one type as object.Identity.Compare does.
func comparePlaces(a, b *object.Object) int {
	if a.Namespace != b.Namespace {
		return strings.Compare(a.Namespace, b.Namespace)
	}
	return strings.Compare(a.Name, b.Name)
}

// result returns the objects, or if selected is not nil those of this store in it, as a list does. They are left
// out while they may be out of date.
func (s *store) result(selected map[*store][]*object.Object) client.ListResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return client.ListResult{Err: s.err}
	case selected != nil:
		return client.ListResult{Objects: selected[s], ResourceVersion: s.version}
	}
	return client.ListResult{Objects: slices.Clone(s.objects), ResourceVersion: s.version}
}

// find returns the object at a place, or nil.
func (s *store) find(namespace, name string) *object.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := &object.Object{Identity: object.Identity{Namespace: namespace, Name: name}}
	if i, found := slices.BinarySearchFunc(s.objects, at, comparePlaces); found {
		return s.objects[i]
	}
	return nil
}

func (s *store) size() (objects int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.objects), s.err
}

func (s *store) failure() error {
	_, err := s.size()
	return err
}

// fail records that the objects may be out of date.
func (s *store) fail(err error) {
	var full *client.MemoryError
	if errors.As(err, &full) {
		s.parent.fail(full)
	}
	s.setErr(err)
	if class, _ := client.Classify(err); class == snapshot.Vanished {
		s.parent.rediscover()
	}
}

// setErr records why the objects may be out of date; nil if a list and a watch have succeeded.
func (s *store) setErr(err error) {
	s.mu.Lock()
	same := err == nil && s.err == nil || err != nil && s.err != nil && err.Error() == s.err.Error()
	s.err = err
	s.mu.Unlock()
	s.closeFirst.Do(func() {
		same = false
		close(s.synced)
	})
	if !same {
		s.parent.notify()
	}
}

// replace takes the objects of a new list, which the memory limit counts already.
func (s *store) replace(objects []*object.Object, version string) {
	slices.SortStableFunc(objects, comparePlaces)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.parent.client.Memory.Drop(objects...)
		return
	}
	differs := !slices.EqualFunc(s.objects, objects, func(a, b *object.Object) bool { return !s.matters(a, b) })
	s.parent.client.Memory.Drop(s.objects...)
	s.parent.index.replace(s, s.objects, objects)
	s.objects, s.version = objects, version
	if differs {
		s.parent.notify()
	}
}

// put stores an object after an event.
func (s *store) put(o *object.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if err := s.parent.client.Memory.Hold(o); err != nil {
		s.parent.fail(err)
	}
	i, found := slices.BinarySearchFunc(s.objects, o, comparePlaces)
	if !found {
		s.objects = slices.Insert(s.objects, i, o)
		s.parent.index.replace(s, nil, []*object.Object{o})
		s.changed(o)
		return
	}
	old := s.objects[i]
	s.parent.client.Memory.Drop(old)
	share(o, old)
	s.objects[i] = o
	s.parent.index.replace(s, []*object.Object{old}, []*object.Object{o})
	if s.matters(old, o) {
		s.changed(old, o)
	}
}

// remove removes an object after an event.
func (s *store) remove(o *object.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := slices.BinarySearchFunc(s.objects, o, comparePlaces)
	if s.closed || !found {
		return
	}
	old := s.objects[i]
	s.parent.client.Memory.Drop(old)
	s.objects = slices.Delete(s.objects, i, i+1)
	s.parent.index.replace(s, []*object.Object{old}, nil)
	s.changed(old)
}

// close releases the objects. No event changes the store any more.
func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parent.client.Memory.Drop(s.objects...)
	s.parent.index.replace(s, s.objects, nil)
	s.objects, s.closed = nil, true
}

// verifyOrder returns an error if an event would bring back an earlier state of an object, or
// deletes another object than the one that is known.
func (s *store) verifyOrder(m *metav1.PartialObjectMetadata, deleted bool) error {
	known := s.find(m.Namespace, m.Name)
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
func (s *store) UpdateResourceVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// changed reports a change of an object that matters, by its states before and after.
func (s *store) changed(states ...*object.Object) {
	s.parent.index.mark(states...)
	s.parent.signal()
}

// matters reports whether a change of an object may change an answer of the rules. Status and
// resourceVersion do not, except while a Namespace or a Pod is being deleted: there the status
// says how far that is.
func (s *store) matters(old, o *object.Object) bool {
	reports := o.Terminating() && (o.IsNamespace() || o.Kind == "Pod" && o.APIVersion == "v1")
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
