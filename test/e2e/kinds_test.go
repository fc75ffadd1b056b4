package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// customGroup is the API group of two custom kinds that every test may use: Widget, which is
// namespaced, and Gadget, which is cluster-scoped. Both are served as v1 and v1beta1, and are no
// longer served as v1alpha1.
const customGroup = "e2e.kubectl-gc.dev"

// defineTestKinds defines Widget and Gadget, once in each environment.
func (s *scene) defineTestKinds() {
	s.Helper()
	s.customKinds.Do(func() {
		kept := len(s.created)
		for kind, scope := range map[string]string{"Widget": "Namespaced", "Gadget": "Cluster"} {
			s.define(definition(customGroup, kind, scope, version("v1", true), version("v1beta1", true), version("v1alpha1", false)))
		}
		s.created = s.created[:kept] // not deleted with this test, as other tests use them
	})
}

// version returns a version of a CRD. The first version of a definition is the storage version.
func version(name string, served bool) map[string]any {
	return map[string]any{
		"name": name, "served": served, "storage": false,
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
	}
}

func definition(group, kind, scope string, versions ...map[string]any) object {
	plural := strings.ToLower(kind) + "s"
	versions[0]["storage"] = true
	all := make([]any, len(versions))
	for i, v := range versions {
		all[i] = v
	}
	return newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural+"."+group, withField("spec", map[string]any{
		"group": group, "scope": scope, "versions": all,
		"names": map[string]any{"plural": plural, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
	}))
}

// define creates a CRD and waits until its versions are served.
func (s *scene) define(crd object) {
	s.Helper()
	s.create(crd)
	spec := crd.Object["spec"].(map[string]any)
	var want []string
	for _, v := range spec["versions"].([]any) {
		if v.(map[string]any)["served"] == true {
			want = append(want, fmt.Sprint(spec["group"], "/", v.(map[string]any)["name"]))
		}
	}
	plural := fmt.Sprint(spec["names"].(map[string]any)["plural"])
	s.await("discovery of "+crd.GetName(), func(context.Context) (bool, error) {
		for _, gv := range want {
			if !s.discovered(gv, plural) {
				return false, nil
			}
		}
		return true, nil
	})
	s.await(crd.GetName()+" to be served", func(ctx context.Context) (bool, error) {
		for _, gv := range want {
			parsed, err := schema.ParseGroupVersion(gv)
			if err != nil {
				return false, err
			}
			if _, err := s.metadata.Resource(parsed.WithResource(plural)).List(ctx, metav1.ListOptions{}); err != nil {
				return false, nil // not served yet
			}
		}
		return true, nil
	})
}

// discovered reports whether a type is in the aggregated discovery document, which clients read.
func (s *scene) discovered(groupVersion, plural string) bool {
	_, lists, _ := s.discovery.ServerGroupsAndResources()
	return slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool {
		return l.GroupVersion == groupVersion && slices.ContainsFunc(l.APIResources, func(r metav1.APIResource) bool { return r.Name == plural })
	})
}

func widget(namespace, name string, more ...func(object)) object {
	return newObject(customGroup+"/v1", "Widget", namespace, name, more...)
}

func gadget(name string, more ...func(object)) object {
	return newObject(customGroup+"/v1", "Gadget", "", name, more...)
}

func role(namespace, name string, more ...func(object)) object {
	return newObject("rbac.authorization.k8s.io/v1", "Role", namespace, name, more...)
}

func clusterRole(name string, more ...func(object)) object {
	return newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", name, more...)
}

func priorityClass(name string, more ...func(object)) object {
	return newObject("scheduling.k8s.io/v1", "PriorityClass", "", name, prepend(withField("value", int64(1)), more)...)
}

func lease(namespace, name string, more ...func(object)) object {
	return newObject("coordination.k8s.io/v1", "Lease", namespace, name, more...)
}

// podSpec returns the spec of a Pod that is never scheduled.
func podSpec() map[string]any {
	return map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.com/none"}}}
}

func pod(namespace, name string, more ...func(object)) object {
	return newObject("v1", "Pod", namespace, name, prepend(withField("spec", podSpec()), more)...)
}

func podTemplate(namespace, name string, more ...func(object)) object {
	return newObject("v1", "PodTemplate", namespace, name, prepend(withField("template", template(name)), more)...)
}

func template(app string) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": app}}, "spec": podSpec()}
}

// autoscaler returns an object of a built-in kind that is served in two versions.
func autoscaler(namespace, name string, more ...func(object)) object {
	return newObject("autoscaling/v2", "HorizontalPodAutoscaler", namespace, name, prepend(withField("spec", map[string]any{
		"maxReplicas": int64(1), "scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "none"},
	}), more)...)
}

// event returns an object of a kind that the collector does not watch.
func event(namespace, name string, more ...func(object)) object {
	return newObject("v1", "Event", namespace, name, prepend(withField("involvedObject", map[string]any{"namespace": namespace}), more)...)
}

// workload returns a Deployment, ReplicaSet, StatefulSet or DaemonSet.
func workload(kind, namespace, name string, more ...func(object)) object {
	spec := map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": name}}, "template": template(name)}
	if kind != "DaemonSet" {
		spec["replicas"] = int64(2)
	}
	return newObject("apps/v1", kind, namespace, name, prepend(withField("spec", spec), more)...)
}

// prepend returns the changes with another one before them.
func prepend(first func(object), more []func(object)) []func(object) {
	return append([]func(object){first}, more...)
}
