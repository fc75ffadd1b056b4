package e2e

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// witness knows what became of the objects of a control plane, from watches alone.
type witness struct {
	*scene
	mu    sync.Mutex
	fates map[types.UID]*fate
	last  time.Time // of an event
}

// fate is what became of an object.
type fate struct {
	metav1.PartialObjectMetadata // as it was last
	resource                     string
	marked                       bool // it got a deletionTimestamp
	gone                         bool
}

// newWitness watches some types, such as "apps/v1 deployments", until the test ends.
func newWitness(s *scene, lines ...string) *witness {
	s.Helper()
	w := &witness{scene: s, fates: map[types.UID]*fate{}}
	for _, line := range lines {
		w.watch(line)
	}
	return w
}

func (w *witness) watch(line string) {
	w.Helper()
	apiVersion, resource, _ := strings.Cut(line, " ")
	gv, err := schema.ParseGroupVersion(apiVersion)
	w.must(err)
	events, err := w.metadata.Resource(gv.WithResource(resource)).Watch(w.Context(), metav1.ListOptions{})
	w.must(err)
	w.Cleanup(events.Stop)
	go func() {
		for e := range events.ResultChan() {
			if o, ok := e.Object.(*metav1.PartialObjectMetadata); ok {
				w.saw(resource, o, e.Type == "DELETED")
			}
		}
	}()
}

func (w *witness) saw(resource string, o *metav1.PartialObjectMetadata, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.fates[o.UID]
	if f == nil {
		f = &fate{resource: resource}
		w.fates[o.UID] = f
	}
	w.last = time.Now()
	f.PartialObjectMetadata = *o
	f.marked, f.gone = f.marked || o.DeletionTimestamp != nil, gone
}

// in returns what is or was in a namespace, without what Kubernetes puts into each, sorted by name.
func (w *witness) in(namespace string) (out []*fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.fates {
		if f.Namespace == namespace {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *fate) int { return cmp.Compare(a.String(), b.String()) })
	return out
}

func (f *fate) String() string { return f.resource + "/" + f.Name }

// awaitCount waits until so many objects of a type are in a namespace.
func (w *witness) awaitCount(namespace, resource string, n int) (found []*fate) {
	w.Helper()
	w.await(resource+" in "+namespace, func(context.Context) (bool, error) {
		found = slices.DeleteFunc(w.in(namespace), func(f *fate) bool { return f.resource != resource || f.gone })
		return len(found) >= n, nil
	})
	return found
}

// awaitGoneIn waits until all objects of some types are gone from a namespace.
func (w *witness) awaitGoneIn(namespace string, resources ...string) {
	w.Helper()
	w.await(strings.Join(resources, " and ")+" to go from "+namespace, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(w.in(namespace), func(f *fate) bool { return !f.gone && slices.Contains(resources, f.resource) }), nil
	})
}

// awaitQuiet waits until the collector has done what it had to do: it has collected a sentinel, and nothing has
// changed since.
func (w *witness) awaitQuiet(namespace string) {
	w.Helper()
	for {
		w.awaitSentinel(namespace)
		begun := time.Now()
		time.Sleep(time.Second)
		w.mu.Lock()
		quiet := w.last.Before(begun.Add(pollInterval))
		w.mu.Unlock()
		if quiet {
			return
		}
	}
}
