package memoryserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Object is a stored object. What its fields point to belongs to the server, also in the objects
// that the server returns: callers must not change it.
type Object struct {
	metav1.PartialObjectMetadata
	Type *Type // one of the types of the server

	GraceSeconds int64 // of a Pod: spec.terminationGracePeriodSeconds
	Scheduled    bool  // of a Pod: it is on a node
	Finished     bool  // of a Pod: it has succeeded or failed

	SpecFinalizers []string // of a Namespace: spec.finalizers
}

func (o *Object) isOf(resource schema.GroupResource) bool {
	return o.Type.GVR.GroupResource() == resource
}

// find returns the position of an object, or the one where it belongs, and reports whether it is
// there.
func (s *Server) find(t *Type, namespace, name string) (position int, found bool) {
	return slices.BinarySearchFunc(s.objects, name, func(o *Object, name string) int {
		if o.Type != t {
			return compareTypes(o.Type, t)
		}
		if o.Namespace != namespace {
			return strings.Compare(o.Namespace, namespace)
		}
		return strings.Compare(o.Name, name)
	})
}

func compareTypes(a, b *Type) int {
	return cmp.Or(strings.Compare(a.GVR.Group, b.GVR.Group), strings.Compare(a.GVR.Resource, b.GVR.Resource))
}

// Add stores an object without validation, and with a new resourceVersion. The type of the object
// must be one of the server's, and no other object may have its name.
func (s *Server) Add(o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case o.Type == nil || s.types[o.Type.GVR] != o.Type:
		panic(fmt.Sprintf("add %s/%s: its type is not served", o.Namespace, o.Name))
	case o.Type.Namespaced != (o.Namespace != ""):
		panic(fmt.Sprintf("add %s %s/%s: the namespace does not fit the type", o.Type.Kind, o.Namespace, o.Name))
	}
	if _, found := s.find(o.Type, o.Namespace, o.Name); found {
		panic(fmt.Sprintf("add %s %s/%s: it exists", o.Type.Kind, o.Namespace, o.Name))
	}
	s.write(watch.Added, &o)
}

// Objects returns all objects, sorted by resource, namespace and name.
func (s *Server) Objects() []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.selected(func(*Object) bool { return true })
}

func (s *Server) selected(match func(*Object) bool) []Object {
	objects := make([]Object, 0, len(s.objects))
	for _, o := range s.objects {
		if match(o) {
			objects = append(objects, *o)
		}
	}
	return objects
}

// Get returns an object.
func (s *Server) Get(gvr schema.GroupVersionResource, namespace, name string) (*Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.object(gvr, namespace, name)
	if err != nil {
		return nil, err
	}
	c := *o
	return &c, nil
}

// List returns the objects of a type, sorted by namespace and name. If namespace is empty, it
// returns those of all namespaces.
func (s *Server) List(gvr schema.GroupVersionResource, namespace string) ([]Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.types[gvr]
	if t == nil || !t.Namespaced && namespace != "" {
		return nil, s.pathNotFound(gvr)
	}
	return s.selected(func(o *Object) bool {
		return o.Type == t && (namespace == "" || o.Namespace == namespace)
	}), nil
}

// RemoveFinalizer removes a finalizer as its controller would, which may remove the object. It
// does nothing if there is no such object or finalizer. Like a PATCH, it fails in a namespace that
// does not exist.
func (s *Server) RemoveFinalizer(uid types.UID, finalizer string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.selected(func(o *Object) bool { return o.UID == uid && slices.Contains(o.Finalizers, finalizer) }) {
		updated := o
		updated.Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == finalizer })
		if _, err := s.updateAdmitted(&o, &updated); err != nil {
			return err
		}
	}
	return nil
}
