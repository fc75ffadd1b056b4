package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// gitOps stands for the controllers of Argo CD 3.5 and Flux 2.8: it deletes what an object lists as they do, and then removes their
// finalizer (controller/appcontroller.go, finalizeApplicationDeletion; kustomization_controller.go, finalize).
type gitOps struct {
	*scene
	members map[string][]object // of an object, by its name
}

// act does what is due for an object.
func (g *gitOps) act(ctx context.Context, o object) error {
	live, err := g.client(o).Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (live.GetDeletionTimestamp() == nil || !slices.Equal(live.GetFinalizers(), o.GetFinalizers())) {
		return nil
	}
	if err != nil {
		return err
	}
	argo, left := o.GetKind() == "Application", 0
	policy := metav1.DeletePropagationBackground
	if argo {
		policy = metav1.DeletePropagationForeground
	}
	for _, member := range g.members[o.GetName()] {
		now, err := g.client(member).Get(ctx, member.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return err
		case argo && keptByArgo(now), !argo && keptByFlux(now, o):
		case now.GetDeletionTimestamp() != nil:
			left++
		default:
			left++
			if err := g.client(member).Delete(ctx, member.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	if argo && left > 0 {
		return nil
	}
	live.SetFinalizers(nil)
	_, err = g.client(o).Update(ctx, live, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func keptByArgo(o *unstructured.Unstructured) bool {
	return strings.Contains(o.GetAnnotations()["argocd.argoproj.io/sync-options"], "Delete=false") || o.GetAnnotations()["helm.sh/resource-policy"] == "keep"
}

func keptByFlux(o *unstructured.Unstructured, by object) bool {
	const marks = "kustomize.toolkit.fluxcd.io/"
	return o.GetLabels()[marks+"name"] != by.GetName() || o.GetAnnotations()[marks+"prune"] == "disabled"
}

// What goes when the controllers have done their work is what the preview shows and the question counts.
func TestGitOpsCascadeEndsAsPredicted(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.define(definition("argoproj.io", "Application", "Namespaced", version("v1alpha1", true)))
	s.define(definition("kustomize.toolkit.fluxcd.io", "Kustomization", "Namespaced", version("v1", true)))
	s.switchCollector(testcluster.On)
	defer s.switchCollector(testcluster.Absent)
	apps, ns, inside := s.namespace("argocd"), s.namespace("shop"), s.namespace("tenant")

	annotated := func(key, value string) func(object) {
		return func(o object) { o.SetAnnotations(map[string]string{key: value}) }
	}
	byFlux := func(o object) {
		o.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "tenants", "kustomize.toolkit.fluxcd.io/namespace": apps})
	}
	settings := s.create(configMap(ns, "settings"))
	owned := s.create(secret(ns, "owned", ownedBy(referenceTo(settings, blocking))))
	pruned := s.create(configMap(ns, "pruned", annotated("argocd.argoproj.io/sync-options", "Prune=false")))
	kept := s.create(configMap(ns, "kept", annotated("argocd.argoproj.io/sync-options", "Delete=false")))
	policy := s.create(configMap(ns, "policy", annotated("helm.sh/resource-policy", "keep")))
	ofFlux := s.create(configMap(ns, "of-flux", byFlux))
	disabled := s.create(configMap(ns, "disabled", byFlux, annotated("kustomize.toolkit.fluxcd.io/prune", "disabled")))
	moved := s.create(configMap(ns, "moved"))
	s.patch(object{&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": inside}}}},
		fmt.Sprintf(`{"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"tenants","kustomize.toolkit.fluxcd.io/namespace":%q}}}`, apps))
	tenant := newObject("v1", "Namespace", "", inside)
	contents := s.create(configMap(inside, "contents"))

	g := &gitOps{s, map[string][]object{}}
	application := func(name string, members ...object) object {
		spec := map[string]any{"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": ns}}
		app := s.create(newObject("argoproj.io/v1alpha1", "Application", apps, name, heldBy("resources-finalizer.argocd.argoproj.io"), withField("spec", spec)))
		var resources []map[string]any
		for _, m := range members {
			kind := m.GroupVersionKind()
			resources = append(resources, map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind, "namespace": m.GetNamespace(), "name": m.GetName()})
		}
		status, err := json.Marshal(map[string]any{"status": map[string]any{"resources": resources}})
		s.must(err)
		s.patch(app, string(status))
		g.members[name] = members
		return app
	}
	tenants := s.create(newObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", apps, "tenants", heldBy("finalizers.fluxcd.io"), withField("spec", map[string]any{"prune": true})))
	g.members["tenants"] = []object{ofFlux, disabled, moved, tenant}
	s.patch(tenants, fmt.Sprintf(`{"status":{"inventory":{"entries":[{"id":"%[1]s_of-flux__ConfigMap","v":"v1"},{"id":"%[1]s_disabled__ConfigMap","v":"v1"},{"id":"%[1]s_moved__ConfigMap","v":"v1"},{"id":"_%[2]s__Namespace","v":"v1"}]}}}`, ns, inside))
	shop := application("shop", settings, pruned, kept, policy)
	root := application("root", shop, tenants)
	goes, stays := []object{root, shop, tenants, settings, owned, pruned, ofFlux, tenant, contents}, []object{kept, policy, disabled, moved}

	args := []string{"delete", "application/root", "-n", apps}
	var plan struct {
		Outcomes []struct {
			Object struct{ Kind, Namespace, Name string }
		}
	}
	s.must(json.Unmarshal([]byte(s.gc(append(args, "--dry-run", "-o", "json")...).exits(t, 0).Stdout), &plan))
	predicted := len(plan.Outcomes)
	s.gc(append(args, "--dry-run")...).exits(t, 0).shows(t, "ConfigMap/kept", "Argo CD keeps it because of argocd.argoproj.io/sync-options: Delete=false",
		"its labels do not name Kustomization/tenants", "Flux deletes 2 objects with it and keeps 2").lacks(t, "not shown here", "could not read")
	s.gc(append(args, "--yes", "--max-deletes=3")...).exits(t, 4).warns(t, fmt.Sprintf("deletes %d objects, more than --max-deletes allows (3)", predicted))

	r := s.gc(append(args, "--yes", "--max-deletes", fmt.Sprint(predicted), "-o", "json")...)
	s.await("the controllers to finish", func(ctx context.Context) (bool, error) {
		for _, o := range []object{root, shop, tenants} {
			if err := g.act(ctx, o); err != nil {
				return false, err
			}
		}
		return !slices.ContainsFunc(goes, func(o object) bool { return !s.gone(o) }), nil
	})
	for _, o := range stays {
		if s.gone(o) || s.live(o).GetDeletionTimestamp() != nil {
			t.Errorf("%s is deleted", o.GetName())
		}
	}
	// The namespace has a ServiceAccount and a ConfigMap of kube-controller-manager, if that made them.
	if predicted < len(goes) || predicted > len(goes)+2 {
		t.Errorf("%d objects are gone, and the preview counts %d: %v", len(goes), predicted, plan.Outcomes)
	}
	s.gc("restore", backupOf(s, r), "--dry-run").exits(t, 0).shows(t, "ConfigMap/contents", "Secret/owned", "Application/shop").lacks(t, "ConfigMap/kept")
}
