package apiserver

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// deleteNamespace is the DELETE of a Namespace. The first one only marks it, and the next ones
// change nothing as long as spec.finalizers are left.
func (s *Server) deleteNamespace(o *Object, options metav1.DeleteOptions) error {
	switch {
	case o.DeletionTimestamp != nil && len(o.SpecFinalizers) > 0:
		return nil
	case slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, o.Name):
		return apierrors.NewForbidden(namespaces, o.Name, fmt.Errorf("this namespace may not be deleted"))
	case o.DeletionTimestamp != nil:
		return s.deleteStored(o, options)
	}
	updated := *o
	now := s.now()
	updated.DeletionTimestamp = &now
	updated.Finalizers = deletionFinalizers(o, options)
	s.change(o, &updated)
	return nil
}

// Finalize removes "kubernetes" from the spec.finalizers of a Namespace, as the namespace
// controller does when the contents are gone. That removes the Namespace if it is terminating and
// has no other finalizers.
func (s *Server) Finalize(namespace string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.object(namespaces.WithVersion("v1"), "", namespace)
	if err != nil {
		return err
	}
	return s.finalize(o)
}

func (s *Server) finalize(o *Object) error {
	updated := *o
	updated.SpecFinalizers = slices.DeleteFunc(slices.Clone(o.SpecFinalizers), func(f string) bool { return f == "kubernetes" })
	_, err := s.update(o, &updated)
	return err
}

// definitionFinalizer waits until the instances of a CustomResourceDefinition are deleted.
const definitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// terminateDefinition is the first DELETE of a CustomResourceDefinition, which ignores the policy.
func (s *Server) terminateDefinition(o *Object) {
	updated := *o
	now := s.now()
	updated.DeletionTimestamp = &now
	if !slices.Contains(updated.Finalizers, definitionFinalizer) {
		updated.Finalizers = append(slices.Clone(o.Finalizers), definitionFinalizer)
	}
	s.change(o, &updated)
}

// runControllers runs the controllers of the server, if it has any, until they have nothing left
// to do.
func (s *Server) runControllers() {
	for before := -1; s.Controllers && before != s.revision; {
		before = s.revision
		for _, o := range s.selected(func(o *Object) bool { return o.DeletionTimestamp != nil }) {
			switch grace := o.DeletionGracePeriodSeconds; {
			case grace != nil && *grace > 0:
				s.deleteAll(func(other *Object) bool { return other.UID == o.UID }, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			case o.isOf(namespaces) && len(o.SpecFinalizers) > 0:
				if s.deleteAll(func(other *Object) bool { return other.Namespace == o.Name }, metav1.DeleteOptions{}) == 0 {
					_ = s.finalize(&o) // fails if the object is invalid, as it was added
				}
			case slices.Contains(o.Finalizers, definitionFinalizer):
				s.cleanUpDefinition(&o)
			}
		}
		s.updateAPIServices()
	}
}

// deleteAll deletes objects, and returns how many are left.
func (s *Server) deleteAll(match func(*Object) bool, options metav1.DeleteOptions) int {
	for _, o := range s.selected(match) {
		_ = s.delete(&o, options) // without a precondition, only some Namespaces refuse it
	}
	return len(s.selected(match))
}

// cleanUpDefinition deletes the instances of a CustomResourceDefinition, then lets the definition go.
func (s *Server) cleanUpDefinition(definition *Object) {
	instance := func(o *Object) bool { return o.Type.GroupResource().String() == definition.Name }
	if s.deleteAll(instance, metav1.DeleteOptions{}) > 0 {
		return
	}
	updated := *definition
	updated.Finalizers = slices.DeleteFunc(slices.Clone(definition.Finalizers), func(f string) bool { return f == definitionFinalizer })
	_, _ = s.update(definition, &updated) // fails if the object is invalid, as it was added
	if _, found := s.find(definition.Type, "", definition.Name); !found {
		s.unserve(schema.ParseGroupResource(definition.Name))
	}
}

// updateAPIServices keeps an APIService for every group and version that is served, as an
// aggregating API server does: for all but its own group.
func (s *Server) updateAPIServices() {
	storage := s.types[APIServices.GroupVersionResource]
	if storage == nil {
		return
	}
	served := map[string]bool{}
	for _, t := range s.served() {
		o := t.apiService()
		o.Type, served[o.Name] = storage, true
		if _, found := s.find(storage, "", o.Name); !found && t.Group != storage.Group {
			s.add(o)
		}
	}
	for _, o := range s.selected(func(o *Object) bool { return o.Type == storage && !served[o.Name] }) {
		s.remove(&o)
	}
}
