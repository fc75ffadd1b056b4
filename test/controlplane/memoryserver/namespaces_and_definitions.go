package memoryserver

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	now := now()
	updated.DeletionTimestamp = &now
	updated.Finalizers = deletionFinalizers(o, namespaceOptions(options))
	s.change(o, &updated)
	return nil
}

// namespaceOptions returns options that have for other types the effect that the given ones have
// for a Namespace: orphanDependents=false means Foreground there, and Background elsewhere.
func namespaceOptions(options metav1.DeleteOptions) metav1.DeleteOptions {
	if orphan := options.OrphanDependents; orphan != nil && !*orphan { //nolint:staticcheck // the API server still accepts it
		foreground := metav1.DeletePropagationForeground
		return metav1.DeleteOptions{PropagationPolicy: &foreground}
	}
	return options
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
	updated := *o
	updated.SpecFinalizers = slices.DeleteFunc(slices.Clone(o.SpecFinalizers), func(f string) bool { return f == "kubernetes" })
	_, err = s.update(o, &updated)
	return err
}

// definitionFinalizer waits until the instances of a CustomResourceDefinition are deleted.
const definitionFinalizer = "customresourcecleanup.apiextensions.k8s.io"

// terminateDefinition is the first DELETE of a CustomResourceDefinition, which ignores the policy.
func (s *Server) terminateDefinition(o *Object) {
	updated := *o
	now := now()
	updated.DeletionTimestamp = &now
	if !slices.Contains(updated.Finalizers, definitionFinalizer) {
		updated.Finalizers = append(slices.Clone(o.Finalizers), definitionFinalizer)
	}
	s.change(o, &updated)
}
