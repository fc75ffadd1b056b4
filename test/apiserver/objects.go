package apiserver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Object is a stored object. What its fields point to belongs to the server, also in the objects
// that the server returns: callers must not change it.
type Object struct {
	metav1.PartialObjectMetadata
	Type   *Type          // one of the types of the server
	Fields map[string]any // the top-level fields other than apiVersion, kind and metadata

	GraceSeconds int64 // of a Pod: spec.terminationGracePeriodSeconds
	Scheduled    bool  // of a Pod: it is on a node
	Finished     bool  // of a Pod: it has succeeded or failed

	SpecFinalizers []string // of a Namespace: spec.finalizers
}

// NewObject returns the object of a type that has these fields.
func NewObject(t *Type, fields map[string]any) (*Object, error) {
	o := &Object{Type: t, Fields: maps.Clone(fields)}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &o.PartialObjectMetadata)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(o.Fields, name)
	}
	switch {
	case o.isOf(namespaces):
		o.SpecFinalizers, _, _ = unstructured.NestedStringSlice(fields, "spec", "finalizers")
		delete(o.Fields, "spec")
	case o.isOf(pods):
		node, _, _ := unstructured.NestedString(fields, "spec", "nodeName")
		phase, _, _ := unstructured.NestedString(fields, "status", "phase")
		o.GraceSeconds, _, _ = unstructured.NestedInt64(fields, "spec", "terminationGracePeriodSeconds")
		o.Scheduled, o.Finished = node != "", phase == "Succeeded" || phase == "Failed"
	}
	return o, err
}

// Whole returns all fields of the object.
func (o *Object) Whole() map[string]any {
	whole, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&o.PartialObjectMetadata)
	if err != nil {
		panic(err) // of the type, not of an object
	}
	maps.Copy(whole, runtime.DeepCopyJSON(o.Fields))
	whole["apiVersion"], whole["kind"] = o.Type.GroupVersion().String(), o.Type.Kind
	if o.isOf(namespaces) {
		finalizers := []any{}
		for _, f := range o.SpecFinalizers {
			finalizers = append(finalizers, f)
		}
		whole["spec"] = map[string]any{"finalizers": finalizers}
	}
	return whole
}

func (o *Object) isOf(resource schema.GroupResource) bool {
	return o.Type.GroupResource() == resource
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
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
}

// Add stores an object without validation, and with a new resourceVersion, in place of one with
// its name. It returns the object as it is stored: without a UID it gets one. The server must have
// its type; a CustomResourceDefinition adds the one that it defines.
func (s *Server) Add(o *Object) *Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := *o
	added.Type = s.types[o.Type.GroupVersionResource]
	if added.Type == nil || added.Type.Namespaced != (o.Namespace != "") {
		panic(fmt.Sprintf("add %s %s/%s: the type is not served, or the namespace does not fit", o.Type.Kind, o.Namespace, o.Name))
	}
	stored := *s.add(&added)
	s.runControllers()
	return &stored
}

func (s *Server) add(o *Object) *Object {
	if o.UID == "" {
		o.UID = types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", s.cluster, s.revision+1))
	}
	if defined := o.defines(); defined != nil && s.types[defined.GroupVersionResource] == nil {
		s.serve(defined)
	}
	if _, found := s.find(o.Type, o.Namespace, o.Name); found {
		return s.write(watch.Modified, o)
	}
	return s.write(watch.Added, o)
}

// Create is a POST. It returns the stored object.
func (s *Server) Create(gvr schema.GroupVersionResource, namespace string, fields map[string]any, options metav1.CreateOptions) (*Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.typeAt(gvr, namespace)
	if err != nil {
		return nil, err
	}
	o, err := NewObject(t, fields)
	if err != nil || o.APIVersion != gvr.GroupVersion().String() || o.Kind != t.Kind {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", o.Kind, o.APIVersion, t.Kind, err))
	}
	if o.Namespace != "" && o.Namespace != namespace {
		return nil, apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	o.Namespace = namespace
	if err := s.admitCreation(o); err != nil {
		return nil, err
	}
	defer s.ifDryRun(options.DryRun)()
	o.UID, o.CreationTimestamp, o.DeletionTimestamp, o.DeletionGracePeriodSeconds = "", s.now(), nil, nil
	o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: options.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: o.APIVersion}}
	o.OwnerReferences = withoutDuplicates(o.OwnerReferences)
	if o.isOf(namespaces) {
		o.SpecFinalizers = []string{"kubernetes"}
	}
	if o.ResourceVersion != "" && len(options.DryRun) == 0 {
		return nil, internalError(fmt.Errorf("resourceVersion should not be set on objects to be created"))
	}
	if errs := validate(nil, o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: gvr.Group, Kind: t.Kind}, o.Name, errs)
	}
	if _, found := s.find(t, namespace, o.Name); found {
		return nil, apierrors.NewAlreadyExists(gvr.GroupResource(), o.Name)
	}
	return s.add(o), nil
}

// admitCreation is the admission plugin NamespaceLifecycle for a POST.
func (s *Server) admitCreation(o *Object) error {
	if o.Namespace == "" {
		return nil
	}
	switch namespace, err := s.namespace(o.Namespace); {
	case err != nil:
		return err
	case namespace != nil && namespace.DeletionTimestamp != nil:
		return apierrors.NewForbidden(o.Type.GroupResource(), o.Name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", o.Namespace))
	}
	return nil
}

// namespace returns a Namespace, or nil if the server does not have that type.
func (s *Server) namespace(name string) (*Object, error) {
	if s.types[namespaces.WithVersion("v1")] == nil {
		return nil, nil
	}
	return s.object(namespaces.WithVersion("v1"), "", name)
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
	return s.list(gvr, namespace)
}

func (s *Server) list(gvr schema.GroupVersionResource, namespace string) ([]Object, error) {
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
	defer s.runControllers()
	for _, o := range s.selected(func(o *Object) bool { return o.UID == uid && slices.Contains(o.Finalizers, finalizer) }) {
		updated := o
		updated.Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == finalizer })
		if _, err := s.update(&o, &updated); err != nil {
			return err
		}
	}
	return nil
}
