package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// scene is one test's part of the cluster. Its objects are deleted when the test ends.
type scene struct {
	*testing.T
	*environment
	created []object
}

// newScene returns a scene in an ordinary control plane.
func newScene(t *testing.T) *scene {
	t.Helper()
	return ordinary.newScene(t)
}

// newScene returns a scene in an environment.
func (w *environment) newScene(t *testing.T) *scene {
	s := &scene{T: t, environment: w}
	t.Cleanup(s.clear)
	return s
}

// forSubtest returns a scene for a subtest.
func (s *scene) forSubtest(t *testing.T) *scene { return s.environment.newScene(t) }

const (
	waitTimeout  = time.Minute // limits every wait
	pollInterval = 20 * time.Millisecond
)

// await polls until done returns true. It may be called in a cleanup, where the test's context has ended.
func (s *scene) await(what string, done func(ctx context.Context) (bool, error)) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context())
	if err := wait.PollUntilContextTimeout(ctx, pollInterval, waitTimeout, true, done); err != nil {
		s.Fatalf("waiting for %s: %v", what, err)
	}
}

// must fails the test on an error.
func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// object is an object to create, or a created one.
type object struct{ *unstructured.Unstructured }

// newObject returns an object that does not exist yet. The namespace of a cluster-scoped one is
// empty.
func newObject(apiVersion, kind, namespace, name string, more ...func(object)) object {
	o := object{&unstructured.Unstructured{Object: map[string]any{}}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	for _, change := range more {
		change(o)
	}
	return o
}

func configMap(namespace, name string, more ...func(object)) object {
	return newObject("v1", "ConfigMap", namespace, name, more...)
}

func secret(namespace, name string, more ...func(object)) object {
	return newObject("v1", "Secret", namespace, name, more...)
}

// withField sets one field, such as spec.
func withField(field string, value any) func(object) {
	return func(o object) { o.Object[field] = value }
}

func ownedBy(refs ...metav1.OwnerReference) func(object) {
	return func(o object) { o.SetOwnerReferences(append(o.GetOwnerReferences(), refs...)) }
}

func heldBy(finalizers ...string) func(object) {
	return func(o object) { o.SetFinalizers(finalizers) }
}

func labelled(key, value string) func(object) {
	return func(o object) { o.SetLabels(map[string]string{key: value}) }
}

// referenceTo returns a reference to an existing object.
func referenceTo(o object, more ...func(*metav1.OwnerReference)) metav1.OwnerReference {
	return reference(o.GetAPIVersion(), o.GetKind(), o.GetName(), o.GetUID(), more...)
}

func reference(apiVersion, kind, name string, uid types.UID, more ...func(*metav1.OwnerReference)) metav1.OwnerReference {
	r := metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid}
	for _, change := range more {
		change(&r)
	}
	return r
}

func blocking(r *metav1.OwnerReference) {
	yes := true
	r.BlockOwnerDeletion = &yes
}

func controlling(r *metav1.OwnerReference) {
	yes := true
	r.Controller = &yes
}

func named(name string) func(*metav1.OwnerReference) {
	return func(r *metav1.OwnerReference) { r.Name = name }
}

func versioned(apiVersion string) func(*metav1.OwnerReference) {
	return func(r *metav1.OwnerReference) { r.APIVersion = apiVersion }
}

var spaces atomic.Int64

// namespace creates a namespace with a unique name.
func (s *scene) namespace(name string) string {
	s.Helper()
	name = fmt.Sprintf("%s-%d", name, spaces.Add(1))
	_, err := s.client(newObject("v1", "Namespace", "", name)).Create(s.Context(), newObject("v1", "Namespace", "", name).Unstructured, metav1.CreateOptions{})
	s.must(err)
	return name
}

// client returns the client for objects of that kind and namespace.
func (s *scene) client(o object) dynamic.ResourceInterface {
	s.Helper()
	m, err := s.mapping(o)
	s.must(err)
	r := s.dynamic.Resource(m.Resource)
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return r.Namespace(o.GetNamespace())
	}
	return r
}

func (s *scene) mapping(o object) (*meta.RESTMapping, error) {
	gvk := o.GroupVersionKind()
	m, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		s.mapper.Reset()
		return s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	return m, err
}

// create creates an object, including its status, and returns the server's version.
func (s *scene) create(o object) object {
	s.Helper()
	live, err := s.client(o).Create(s.Context(), o.Unstructured, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	s.created = append(s.created, object{live})
	if status, ok := o.Object["status"]; ok {
		live.Object["status"] = status
		if live, err = s.client(o).UpdateStatus(s.Context(), live, metav1.UpdateOptions{}); err != nil {
			s.Fatalf("write the status of %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
	return object{live}
}

// setOwners replaces the owners of an existing object.
func (s *scene) setOwners(o object, refs ...metav1.OwnerReference) object {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs}})
	s.must(err)
	live, err := s.client(o).Patch(s.Context(), o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	s.must(err)
	return object{live}
}

// remove deletes an object; finalizers may keep it.
func (s *scene) remove(o object, policy metav1.DeletionPropagation) {
	s.Helper()
	s.must(s.client(o).Delete(s.Context(), o.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy}))
}

// replace deletes an object and creates an equal one with another UID.
func (s *scene) replace(o object) object {
	s.Helper()
	s.remove(o, metav1.DeletePropagationBackground)
	return s.create(newObject(o.GetAPIVersion(), o.GetKind(), o.GetNamespace(), o.GetName(), func(fresh object) {
		for field, value := range o.Object {
			switch field {
			case "apiVersion", "kind", "metadata", "status":
			default:
				fresh.Object[field] = value
			}
		}
	}))
}

// clear deletes all objects of the scene and removes their finalizers.
func (s *scene) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(8)
	for _, o := range s.created {
		group.Go(func() error { return s.deleteObject(ctx, o) })
	}
	if err := group.Wait(); err != nil {
		s.Error(err)
	}
	for _, o := range s.created {
		if o.GetKind() == "CustomResourceDefinition" {
			s.awaitCRDGone(o)
		}
	}
	s.created = nil
}

// awaitCRDGone waits until a CRD and its types in discovery are gone.
func (s *scene) awaitCRDGone(crd object) {
	s.Helper()
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	s.await("the end of "+crd.GetName(), func(context.Context) (bool, error) {
		_, lists, err := s.discovery.ServerGroupsAndResources()
		return !slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool { return strings.HasPrefix(l.GroupVersion, group+"/") }), err
	})
}

func (s *scene) deleteObject(ctx context.Context, o object) error {
	m, err := s.mapping(o)
	if meta.IsNoMatchError(err) {
		return nil // its CRD is gone, and the object with it
	}
	if err != nil {
		return err
	}
	client := s.dynamic.Resource(m.Resource).Namespace(o.GetNamespace())
	background, now := metav1.DeletePropagationBackground, int64(0)
	err = client.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background, GracePeriodSeconds: &now})
	if err == nil {
		_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	}
	if err == nil && o.GetKind() == "Namespace" && s.controlPlane.PIDs["kube-controller-manager"] == 0 {
		err = finalize(ctx, client, o.GetName())
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("clear away %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// finalize ends the deletion of a namespace where no namespace controller does. After ten minutes it
// would be a finding of every audit.
func finalize(ctx context.Context, namespaces dynamic.ResourceInterface, name string) error {
	space, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(space.Object, "spec", "finalizers")
	_, err = namespaces.Update(ctx, space, metav1.UpdateOptions{}, "finalize")
	return err
}

// gone reports whether an object was deleted or replaced.
func (s *scene) gone(o object) bool {
	s.Helper()
	live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
	return err != nil || live.GetUID() != o.GetUID()
}

// live returns the server's version of an object.
func (s *scene) live(o object) object {
	s.Helper()
	live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
	s.must(err)
	return object{live}
}

// serverBefore reports whether the API server is older than a minor version, such as 1.34.
func (s *scene) serverBefore(minor string) bool {
	s.Helper()
	info, err := s.discovery.ServerVersion()
	s.must(err)
	server, err := utilversion.ParseGeneric(info.GitVersion)
	s.must(err)
	return server.LessThan(utilversion.MustParseGeneric(minor))
}
