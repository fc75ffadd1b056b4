package garbagecollector

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubernetes/pkg/controller/namespace/deletion"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/apiserver"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/scenario"
)

const (
	namespaceFinalizer = "kubernetes" // in the spec of a Namespace
	cleanupFinalizer   = "customresourcecleanup.apiextensions.k8s.io"
)

var namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// addControllerSteps adds what the kubelets, the namespace controller and the API server's
// own controllers can do.
func (c *cluster) addControllerSteps(add func(func())) {
	for _, o := range c.server.Objects() {
		if o.DeletionTimestamp == nil {
			continue
		}
		switch {
		case o.DeletionGracePeriodSeconds != nil && *o.DeletionGracePeriodSeconds > 0 && !c.nodeLost(o):
			add(func() { c.stopPod(o) })
		case o.Type.GroupVersionResource == namespaceResource && slices.Contains(o.SpecFinalizers, namespaceFinalizer) && c.due(c.namespaces, o.Name):
			add(func() { c.deleteContents(o.Name) })
		case slices.Contains(o.Finalizers, cleanupFinalizer) && c.due(c.cleanups, o.Name):
			add(func() { c.deleteInstances(o) })
		}
	}
	if c.earlier != nil {
		c.addRemovals(add)
	}
	for i, t := range c.served {
		if t.Custom && !c.defined(t.Resource+"."+t.Group) && c.hadDefinition(t.Resource+"."+t.Group) {
			add(func() {
				c.served = slices.Delete(slices.Clone(c.served), i, i+1)
				c.removed = append(c.removed, t)
				c.server.Unserve(schema.GroupResource{Group: t.Group, Resource: t.Resource})
				c.handled++
			})
		}
	}
	if len(c.removed) > 0 {
		add(func() { // the collector's Sync resets the mapper and stops the monitors
			c.graph.restMapper = newMapper(c.served)
			for _, t := range c.removed {
				delete(c.graph.monitors, schema.GroupVersionResource{Group: t.Group, Version: t.Version, Resource: t.Resource})
			}
			c.removed = nil
			c.handled++
		})
	}
}

// release makes other controllers remove their finalizers from now on, unless nothing is held. An object
// that was terminating before is not up to the user's requests, unless they name it, or have changed its
// finalizers, or delete its Namespace or CustomResourceDefinition.
func (c *cluster) release(before, now []scenario.Object) {
	was := map[types.UID]scenario.Object{}
	for _, o := range before {
		was[o.UID] = o
	}
	held := false
	c.earlier = map[types.UID]bool{}
	for _, o := range now {
		old := was[o.UID]
		requested := slices.ContainsFunc(c.scenario.Deletes, func(d scenario.Delete) bool { return d.UID == string(o.UID) })
		c.earlier[o.UID] = old.DeletionTimestamp != nil && slices.Equal(old.Finalizers, o.Finalizers) && !requested
		held = held || o.DeletionTimestamp != nil && !c.earlier[o.UID]
	}
	if !held {
		c.earlier = nil
	}
}

// removable reports whether other controllers remove their finalizers from a terminating object.
func (c *cluster) removable(o apiserver.Object) bool {
	t := o.Type.GroupVersionResource
	return !c.earlier[o.UID] || slices.ContainsFunc(c.server.Objects(), func(container apiserver.Object) bool {
		inside := container.Type.GroupVersionResource == namespaceResource && container.Name == o.Namespace || isDefinition(container) && container.Name == t.Resource+"."+t.Group
		return inside && container.DeletionTimestamp != nil && !c.earlier[container.UID]
	})
}

// addRemovals adds the removal of each finalizer that other controllers remove after the user's
// requests. The kubelet of a lost node is back then.
func (c *cluster) addRemovals(add func(func())) {
	for _, o := range c.server.Objects() {
		if o.DeletionTimestamp == nil || !c.removable(o) {
			continue
		}
		if c.nodeLost(o) && o.DeletionGracePeriodSeconds != nil && *o.DeletionGracePeriodSeconds > 0 {
			add(func() { c.stopPod(o) })
		}
		for _, f := range o.Finalizers {
			if f != metav1.FinalizerDeleteDependents && f != metav1.FinalizerOrphanDependents && f != cleanupFinalizer && c.admit("UPDATE", &o) == nil {
				add(func() { c.server.RemoveFinalizer(o.UID, f) })
			}
		}
	}
}

// due reports whether something has changed since the last round of a controller.
func (c *cluster) due(last map[string]int, name string) bool {
	at, seen := last[name]
	return !seen || c.changed() > at
}

func (c *cluster) defined(name string) bool {
	return slices.ContainsFunc(c.server.Objects(), func(o apiserver.Object) bool { return isDefinition(o) && o.Name == name })
}

// hadDefinition reports whether the CustomResourceDefinition was in the scenario.
func (c *cluster) hadDefinition(name string) bool {
	for _, o := range c.scenario.Objects {
		if o.Kind == "CustomResourceDefinition" && o.Name == name {
			return true
		}
	}
	return false
}

func isDefinition(o apiserver.Object) bool { return o.Type.Kind == "CustomResourceDefinition" }

func (c *cluster) nodeLost(o apiserver.Object) bool {
	for _, s := range c.scenario.Objects {
		if s.UID == o.UID {
			return s.Pod != nil && s.Pod.NodeLost
		}
	}
	return false
}

// stopPod is what a kubelet does when the containers of a Pod have stopped.
func (c *cluster) stopPod(o apiserver.Object) {
	now := int64(0)
	c.withoutAdmission(func() {
		_, _ = c.server.Delete(o.Type.GroupVersionResource, o.Namespace, o.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &o.UID},
		})
	})
}

// deleteInstances is a round of the API server's controller that deletes the instances of
// a CustomResourceDefinition (crd_finalizer.go, deleteInstances).
func (c *cluster) deleteInstances(definition apiserver.Object) {
	c.cleanups[definition.Name] = c.changed()
	left := 0
	for gvr, t := range c.types {
		if gvr.Resource+"."+gvr.Group != definition.Name {
			continue
		}
		for _, namespace := range c.namespacesOf(t) {
			c.withoutAdmission(func() { _ = c.server.DeleteCollection(gvr, namespace, metav1.DeleteOptions{}) })
		}
		instances, _ := c.server.List(gvr, "")
		left += len(instances)
	}
	if left == 0 {
		c.server.RemoveFinalizer(definition.UID, cleanupFinalizer)
	}
	c.cleanups[definition.Name] = c.changed()
}

// namespacesOf returns the namespaces with objects of a type, or only "".
func (c *cluster) namespacesOf(t *apiserver.Type) []string {
	if !t.Namespaced {
		return []string{""}
	}
	var out []string
	for _, o := range c.server.Objects() {
		if o.Type == t && !slices.Contains(out, o.Namespace) {
			out = append(out, o.Namespace)
		}
	}
	return out
}

// deleteContents is a round of the namespace controller.
func (c *cluster) deleteContents(name string) {
	c.namespaces[name] = 1 << 30 // not again while it runs
	c.start(false, func(pause func()) {
		began := c.changed()
		client := &pausingClient{c.server, pause, nil}
		d := deletion.NewNamespacedResourcesDeleter(context.Background(), namespaceClient{cluster: c}, client, &podsGetter{cluster: c},
			c.namespacedResources, namespaceFinalizer)
		_ = d.Delete(context.Background(), name)
		c.namespaces[name] = began
	})
}

// namespaceClient is what the namespace controller uses of a client of Namespaces.
type namespaceClient struct {
	corev1.NamespaceInterface
	cluster *cluster
}

// Get implements corev1.NamespaceInterface, and so do the others.
func (n namespaceClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.Namespace, error) {
	o, err := n.cluster.server.Get(namespaceResource, "", name)
	if err != nil {
		return nil, err
	}
	out := &v1.Namespace{ObjectMeta: o.ObjectMeta, Status: v1.NamespaceStatus{Phase: v1.NamespaceTerminating}}
	for _, f := range o.SpecFinalizers {
		out.Spec.Finalizers = append(out.Spec.Finalizers, v1.FinalizerName(f))
	}
	return out, nil
}

func (n namespaceClient) UpdateStatus(_ context.Context, ns *v1.Namespace, _ metav1.UpdateOptions) (*v1.Namespace, error) {
	return ns, nil
}

func (n namespaceClient) Finalize(_ context.Context, ns *v1.Namespace, _ metav1.UpdateOptions) (*v1.Namespace, error) {
	return ns, n.cluster.server.Finalize(ns.Name)
}

// podsGetter lists Pods for the namespace controller, which only reads their grace periods.
type podsGetter struct {
	corev1.PodsGetter
	cluster *cluster
}

// Pods implements corev1.PodsGetter.
func (p *podsGetter) Pods(string) corev1.PodInterface { return noPods{} }

type noPods struct{ corev1.PodInterface }

// List implements corev1.PodInterface. The estimate of the time that Pods need does not
// matter where there is no time.
func (noPods) List(context.Context, metav1.ListOptions) (*v1.PodList, error) {
	return &v1.PodList{}, nil
}
