package apiserver

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is what a watch of the type reports.
type Event struct {
	Type   watch.EventType
	Object Object
}

// Server is an API server. Its methods can be called concurrently.
type Server struct {
	// Controllers runs, after every request, the controllers that empty a deleted Namespace or
	// CustomResourceDefinition, stop Pods and maintain APIServices. There is no garbage collector.
	// They look at every object each time, so set it after adding thousands.
	Controllers bool
	// Clock is the time of creations and deletions. If it is nil, the clock stands still.
	Clock func() time.Time
	// JSON responds in JSON even if the client prefers protobuf, as a server may.
	JSON bool
	// Legacy responds to discovery with one document per group, as before Kubernetes 1.30.
	Legacy bool
	// Admit is asked about every DELETE and every UPDATE by a patch, dry runs too, and what it returns is the answer unless it
	// is nil. It is not asked about what Controllers do. Nil admits everything.
	Admit func(operation string, o *Object) error
	// WatchLifetime is after what time the server ends a watch. 0 means never.
	WatchLifetime time.Duration
	// Watches is the number of open watches.
	Watches atomic.Int64

	mu        sync.Mutex
	builtIn   []*Type
	types     map[schema.GroupVersionResource]*Type // in every served version
	objects   []*Object                             // sorted by place; never changed in place, but replaced
	revision  int                                   // the resourceVersion of the last write
	events    []Event
	taken     int                     // by TakeEvents
	written   map[*Type]chan struct{} // each is closed by the next write to an object of its type, and when that is no longer served
	unserved  map[*Type]int           // how often each was no longer served
	corrupt   map[types.UID]bool      // see Corrupt
	restarted bool
	cluster   int32 // part of every UID, so that no two clusters share one

	raw      map[string]chan any // by path: what RawEvents sends to watches
	lies     []lie
	requests []Request
}

// New returns a server without objects.
func New(types []*Type) *Server {
	s := &Server{builtIn: types, raw: map[string]chan any{}, written: map[*Type]chan struct{}{}, unserved: map[*Type]int{}}
	s.Reset()
	return s
}

var clusters atomic.Int32

// Reset turns the server into a new one without objects, at the same address.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster, s.types = clusters.Add(1), map[schema.GroupVersionResource]*Type{}
	s.objects, s.events, s.taken = nil, nil, 0
	s.serve(s.builtIn...)
}

// Serve adds types to the server.
func (s *Server) Serve(types ...*Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve(types...)
	s.runControllers()
}

func (s *Server) serve(types ...*Type) {
	for _, t := range types {
		for _, version := range append([]string{t.Version}, t.OtherVersions...) {
			s.types[t.GroupResource().WithVersion(version)] = t
		}
	}
}

// Unserve makes the server forget a resource in every version, as it does some time after its
// CustomResourceDefinition is gone, and ends its watches. Objects that are left stay stored, but no
// request reaches them.
func (s *Server) Unserve(gr schema.GroupResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unserve(gr)
}

func (s *Server) unserve(gr schema.GroupResource) {
	maps.DeleteFunc(s.types, func(gvr schema.GroupVersionResource, t *Type) bool {
		if gvr.GroupResource() != gr {
			return false
		}
		s.unserved[t]++
		s.wakeWatches(t)
		return true
	})
}

func (s *Server) admit(operation string, o *Object) error {
	if s.Admit == nil {
		return nil
	}
	return s.Admit(operation, o)
}

func (s *Server) now() metav1.Time {
	if s.Clock == nil {
		return metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	}
	return metav1.NewTime(s.Clock())
}

// TakeEvents returns the events since the last call, in the order of their resourceVersions.
func (s *Server) TakeEvents() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events[s.taken:]
	s.taken = len(s.events)
	return events
}

// Revision returns how often an object was added, changed or removed, which is the
// resourceVersion of lists. Requests that change nothing do not count.
func (s *Server) Revision() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// write stores an object and returns what was stored.
func (s *Server) write(event watch.EventType, o *Object) *Object {
	stored := s.nextRevision(o)
	if i, found := s.find(o.Type, o.Namespace, o.Name); found {
		s.objects[i] = stored
	} else {
		s.objects = slices.Insert(s.objects, i, stored)
	}
	s.emit(event, stored)
	return stored
}

// remove removes an object. As in a real watch, the event has the last stored state of the
// object, not the change that caused its removal, and the resourceVersion of the removal.
func (s *Server) remove(o *Object) {
	if i, found := s.find(o.Type, o.Namespace, o.Name); found {
		s.objects = slices.Delete(s.objects, i, i+1)
	}
	s.emit(watch.Deleted, s.nextRevision(o))
}

func (s *Server) nextRevision(o *Object) *Object {
	s.revision++
	next := *o
	next.ResourceVersion = strconv.Itoa(s.revision)
	return &next
}

func (s *Server) emit(event watch.EventType, o *Object) {
	s.events = append(s.events, Event{event, *o})
	s.wakeWatches(o.Type)
}

func (s *Server) wakeWatches(of *Type) {
	if written := s.written[of]; written != nil {
		close(written)
		delete(s.written, of)
	}
}

// ifDryRun returns a function that undoes what happens until it is called, if a request is a dry
// run.
func (s *Server) ifDryRun(dryRun []string) (undo func()) {
	if len(dryRun) == 0 {
		return s.runControllers
	}
	objects, revision, events, types := slices.Clone(s.objects), s.revision, s.events, maps.Clone(s.types)
	return func() { s.objects, s.revision, s.events, s.types = objects, revision, events, types }
}

// object returns the object to which a request path leads.
func (s *Server) object(gvr schema.GroupVersionResource, namespace, name string) (*Object, error) {
	t, err := s.typeAt(gvr, namespace)
	if err != nil {
		return nil, err
	}
	i, found := s.find(t, namespace, name)
	if !found {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	return s.objects[i], s.readError(s.objects[i])
}

// typeAt returns the type of the object to which a request path leads.
func (s *Server) typeAt(gvr schema.GroupVersionResource, namespace string) (*Type, error) {
	t := s.types[gvr]
	if t == nil || t.Namespaced != (namespace != "") {
		return nil, s.pathNotFound(gvr)
	}
	return t, nil
}

// pathNotFound returns the error of a path at which nothing is served, which names no object. In
// the API groups of kube-apiserver itself the body is a Status, elsewhere it is plain text.
func (s *Server) pathNotFound(gvr schema.GroupVersionResource) error {
	builtIn := gvr.Group == ""
	for served, t := range s.types {
		builtIn = builtIn || served.Group == gvr.Group && !t.Custom && !t.Aggregated
	}
	text := "404 page not found"
	if builtIn {
		text = ""
	}
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", text, 0, !builtIn)
}

func methodNotAllowed() error {
	return apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)
}

func conflict(o *Object, format string, args ...any) error {
	return apierrors.NewConflict(o.Type.GroupResource(), o.Name, fmt.Errorf(format, args...))
}
