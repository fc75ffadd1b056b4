package memoryserver

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Type is a resource that the server serves.
type Type struct {
	GVR           schema.GroupVersionResource // in the preferred version
	OtherVersions []string                    // in which the same objects are served
	Kind          string
	Namespaced    bool
	// Custom reports that a CustomResourceDefinition defines the type. Its objects cannot be
	// patched with a strategic merge patch.
	Custom bool
	// OrphansByDefault reports that a DELETE without a policy orphans the dependents, as for
	// Jobs and ReplicationControllers.
	OrphansByDefault bool
	// IgnoresPolicy reports that a DELETE never sets a finalizer of the garbage collector, as
	// for Events.
	IgnoresPolicy bool
}

var (
	events                    = schema.GroupResource{Resource: "events"}
	pods                      = schema.GroupResource{Resource: "pods"}
	namespaces                = schema.GroupResource{Resource: "namespaces"}
	customResourceDefinitions = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
)

// Event is what a watch of the type reports.
type Event struct {
	Type   watch.EventType
	Object Object
}

// Server is an API server. Its methods can be called concurrently.
type Server struct {
	types map[schema.GroupVersionResource]*Type // in every served version

	mu       sync.Mutex
	objects  []*Object // sorted by place; never changed in place, but replaced
	revision int       // the resourceVersion of the last write
	events   []Event
}

// New returns a server without objects.
func New(types []*Type) *Server {
	s := &Server{types: map[schema.GroupVersionResource]*Type{}}
	for _, t := range types {
		s.types[t.GVR] = t
		for _, version := range t.OtherVersions {
			s.types[t.GVR.GroupResource().WithVersion(version)] = t
		}
	}
	return s
}

// Unserve makes the server forget a resource in every version, as it does some time after its
// CustomResourceDefinition is gone. Objects that are left stay stored, but no request reaches
// them.
func (s *Server) Unserve(gr schema.GroupResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.types, func(gvr schema.GroupVersionResource, _ *Type) bool { return gvr.GroupResource() == gr })
}

// now returns the time of every deletion: the server's clock stands still.
func now() metav1.Time {
	return metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// TakeEvents returns the events since the last call, in the order of their resourceVersions.
func (s *Server) TakeEvents() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	events := s.events
	s.events = nil
	return events
}

// Writes returns how often an object was added, changed or removed. Requests that change nothing
// do not count.
func (s *Server) Writes() int {
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
	s.events = append(s.events, Event{event, *stored})
	return stored
}

// remove removes an object. As in a real watch, the event has the last stored state of the
// object, not the change that caused its removal, and the resourceVersion of the removal.
func (s *Server) remove(o *Object) {
	if i, found := s.find(o.Type, o.Namespace, o.Name); found {
		s.objects = slices.Delete(s.objects, i, i+1)
	}
	s.events = append(s.events, Event{watch.Deleted, *s.nextRevision(o)})
}

func (s *Server) nextRevision(o *Object) *Object {
	s.revision++
	next := *o
	next.ResourceVersion = strconv.Itoa(s.revision)
	return &next
}

// object returns the object to which a request path leads.
func (s *Server) object(gvr schema.GroupVersionResource, namespace, name string) (*Object, error) {
	t := s.types[gvr]
	if t == nil || t.Namespaced != (namespace != "") {
		return nil, s.pathNotFound(gvr)
	}
	i, found := s.find(t, namespace, name)
	if !found {
		return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
	}
	return s.objects[i], nil
}

// pathNotFound returns the error of a path at which nothing is served, which names no object. In
// the API groups of kube-apiserver itself the body is a Status, elsewhere it is plain text.
func (s *Server) pathNotFound(gvr schema.GroupVersionResource) error {
	builtIn := gvr.Group == ""
	for served, t := range s.types {
		builtIn = builtIn || served.Group == gvr.Group && !t.Custom
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

var errDryRun = errors.New("dry run is not implemented")

func conflict(o *Object, format string, args ...any) error {
	return apierrors.NewConflict(o.Type.GVR.GroupResource(), o.Name, fmt.Errorf(format, args...))
}
