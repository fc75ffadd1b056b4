package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// stuckNamespace is a Namespace that the real namespace controller cannot complete.
type stuckNamespace struct {
	*scene
	name  string
	space object
}

// deleteStuck deletes a namespace, and returns when the real namespace controller reports these
// conditions and no others.
func (s *scene) deleteStuck(name string, conditions ...string) stuckNamespace {
	s.Helper()
	n := stuckNamespace{s, name, s.live(newObject("v1", "Namespace", "", name))}
	s.must(s.client(n.space).Delete(s.Context(), name, metav1.DeleteOptions{}))
	s.await(fmt.Sprint(conditions, " of ", name), func(context.Context) (bool, error) {
		all, isTrue := n.conditions()
		return all > 0 && slices.Equal(isTrue, conditions), nil
	})
	return n
}

// conditions returns the number of the namespace's conditions, and the types of those that are
// true, sorted.
func (n stuckNamespace) conditions() (all int, isTrue []string) {
	list, _, _ := unstructured.NestedSlice(n.live(n.space).Object, "status", "conditions")
	for _, c := range list {
		if c := c.(map[string]any); c["status"] == "True" {
			isTrue = append(isTrue, c["type"].(string))
		}
	}
	slices.Sort(isTrue)
	return len(list), isTrue
}

// finding returns the finding of the rule about the namespace, with its causes and the types of the
// conditions, sorted.
func (n stuckNamespace) finding(by tool, args ...string) (found finding, causes []Because, conditions []string) {
	n.Helper()
	r := decode[report](n, by.gc(append([]string{"audit", "--rule", "stuck-namespace", "--stuck-after=0s", "--fail-on=never", "-o", "json"}, args...)...).exits(n, 0))
	i := slices.IndexFunc(r.Findings, func(f finding) bool { return f.Object.Name == n.name })
	if i < 0 {
		n.Fatalf("there is no finding about the namespace: %+v", r.Findings)
	}
	raw, err := json.Marshal(r.Findings[i].Parameters)
	n.must(err)
	var parameters namespaceStuck
	n.must(json.Unmarshal(raw, &parameters))
	for _, c := range parameters.Conditions {
		if c.Message == "" {
			n.Errorf("%s has no message", c.Type)
		}
		conditions = append(conditions, c.Type)
	}
	slices.Sort(conditions)
	return r.Findings[i], parameters.Causes, conditions
}

// requireFound requires a finding with these causes, on the cluster and in a snapshot of it, and
// returns what why says.
func (n stuckNamespace) requireFound(brief string, causes ...Because) result {
	n.Helper()
	file := filepath.Join(n.TempDir(), "cluster.json")
	n.gc("snapshot", "-o", file).exits(n, 0)
	for _, args := range [][]string{nil, {"--from", file}} {
		found, got, conditions := n.finding(n.tool(), args...)
		if found.brief() != brief {
			n.Errorf("%v: the finding is %s, want %s", args, found.brief(), brief)
		}
		if diff := cmp.Diff(causes, got, cmpopts.IgnoreFields(Because{}, "Message")); diff != "" {
			n.Errorf("%v: causes (-want +got)\n%s", args, diff)
		}
		if _, isTrue := n.conditions(); !slices.Equal(isTrue, conditions) {
			diff := cmp.Diff(isTrue, conditions)
			n.Errorf("%v: conditions (-of the namespace +of the finding)\n%s", args, diff)
		}
	}
	n.requireSame(file)
	return n.gc("why", "namespace/"+n.name).exits(n, 0)
}

// aboutFile matches how suggestions in JSON speak of the file of --from.
var aboutFile = regexp.MustCompile(`,\s*"--from",\s*"[^"]*"| \(on the cluster itself, not on this file\)`)

// aboutTraces matches what is said of the traces of a controller: a snapshot has no writes, Events and Leases.
var aboutTraces = regexp.MustCompile(`"(The controller of|Nothing (else )?of|Found nothing)[^"]*"`)

// requireSame requires that why says the same of a snapshot as of the cluster.
func (n stuckNamespace) requireSame(file string) {
	n.Helper()
	now := n.gc("why", "namespace/"+n.name, "-o", "json").exits(n, 0)
	now.Stdout = aboutTraces.ReplaceAllString(now.Stdout, `"traces"`)
	live := decode[map[string]any](n, now)
	fromFile := n.gc("why", "namespace/"+n.name, "-o", "json", "--from", file).exits(n, 0)
	fromFile.Stdout = aboutFile.ReplaceAllString(fromFile.Stdout, "") // suggestions say that they read it, or do not
	fromFile.Stdout = aboutTraces.ReplaceAllString(fromFile.Stdout, `"traces"`)
	saved := decode[map[string]any](n, fromFile)
	for _, field := range []string{"consequence", "conditions", "next", "waitsFor", "suggestions"} {
		of := func(document map[string]any) any { return document["answers"].([]any)[0].(map[string]any)[field] }
		if diff := cmp.Diff(of(live), of(saved)); diff != "" {
			n.Errorf("%s (-of the cluster +of the snapshot)\n%s", field, diff)
		}
	}
}

// awaitGone waits until the namespace controller has completed the deletion. A change of the
// Namespace makes that controller try again at once.
func (n stuckNamespace) awaitGone() {
	n.Helper()
	_, err := n.client(n.space).Patch(n.Context(), n.name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"e2e":"repaired"}}}`), metav1.PatchOptions{})
	n.must(err)
	n.await("the namespace to go", func(context.Context) (bool, error) { return n.gone(n.space), nil })
}

func TestStuckNamespaceIsFoundAndExplained(t *testing.T) {
	s := sceneWithCollector(t)
	none := []any{}
	configMaps := []any{map[string]any{"type": "configmaps", "objects": 1.0}}

	t.Run("contents with a finalizer that nobody removes", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("stuck-finalizer")
		held := s.create(configMap(ns, "held", heldBy(hold)))
		s.create(configMap(ns, "free"))
		n := s.deleteStuck(ns, "NamespaceContentRemaining", "NamespaceFinalizersRemaining")
		why := n.requireFound("warning stuck-namespace: Namespace/"+ns+": none", Because{Reason: "ContentsLeft", Parameters: map[string]any{
			"types": configMaps, "finalizers": []any{map[string]any{"finalizer": hold, "objects": 1.0, "first": map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "namespace": ns, "name": "held", "uid": string(held.GetUID()),
			}}},
		}})
		why.shows(t,
			"NamespaceFinalizersRemaining: finalizers remain", hold+" in 1 resource instances",
			", and still contains configmaps (1); finalizer "+hold+" holds ConfigMap/held.", "The finalizer "+hold+": ",
			"ConfigMap/held in "+ns+": still exists, held by "+hold, "kubectl gc why configmap/held -n "+ns)
		s.grant("carol", "", []any{"*"}, []any{"*"}, []any{"list"})
		found, causes, _ := n.finding(s.toolAs("carol"))
		if last := causes[len(causes)-1]; found.Consequence != "none" || last.Reason != "ConditionsUnread" {
			t.Errorf("without the right to get namespaces: %s, %+v", found.brief(), causes)
		}
		_, err := s.client(held).Patch(s.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		s.must(err)
		n.awaitGone()
	})

	// The namespace controller then claims that all contents are removed.
	t.Run("a Pod with a finalizer that nobody removes", func(t *testing.T) {
		if s.serverBefore("1.33") {
			t.Skip("the conditions are those of any other object")
		}
		s := s.forSubtest(t)
		ns := s.namespace("stuck-pod")
		held := s.create(pod(ns, "held", heldBy(hold)))
		n := s.deleteStuck(ns)
		found, causes, _ := n.finding(n.tool())
		if len(causes) != 1 || causes[0].Reason != "ContentsLeft" || found.Consequence != "none" || !strings.Contains(found.Message, "finalizer "+hold+" holds Pod/held") {
			t.Errorf("%s, %+v", found.brief(), causes)
		}
		s.gc("why", "namespace/"+ns).exits(t, 0).shows(t, "Pod/held in "+ns+": still exists, held by "+hold, "deletes the Pods first")
		_, err := s.client(held).Patch(s.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		s.must(err)
		n.awaitGone()
	})

	t.Run("a dead conversion webhook", func(t *testing.T) {
		const group = "stuckwebhook.example.com"
		s := s.forSubtest(t)
		ns := s.namespace("stuck-webhook")
		s.brokenConversionWebhook(group, "Fossil")
		s.create(newObject(group+"/v1", "Fossil", ns, "fossil"))
		n := s.deleteStuck(ns, "NamespaceDeletionContentFailure")
		why := n.requireFound("error stuck-namespace: Namespace/"+ns+": stuck", Because{Reason: "ContentsDeletionFails", Parameters: map[string]any{
			"gaps": []any{map[string]any{"group": group, "resource": "fossils", "errorClass": "conversion-webhook"}}, "undeleted": none,
		}})
		why.shows(t,
			"NamespaceDeletionContentFailure: the namespace controller could not delete some of the contents",
			"conversion webhook for "+group, ", and stays while the API server cannot list fossils."+group+" (conversion-webhook).",
			"kubectl get customresourcedefinition/fossils."+group+" -o 'jsonpath={.spec.conversion.webhook.clientConfig}'")
		crd := newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "fossils."+group)
		_, err := s.client(crd).Patch(s.Context(), crd.GetName(), types.MergePatchType, []byte(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`), metav1.PatchOptions{})
		s.must(err)
		n.awaitGone()
	})

	t.Run("a policy that denies the deletion of contents", func(t *testing.T) {
		s := s.forSubtest(t)
		ns := s.namespace("stuck-policy")
		s.create(configMap(ns, "precious"))
		s.denyWrites(ns, "precious")
		n := s.deleteStuck(ns, "NamespaceDeletionContentFailure")
		found, causes, _ := n.finding(n.tool())
		if len(causes) != 1 || causes[0].Reason != "ContentsDeletionFails" || found.Consequence != "stuck" {
			t.Errorf("%s, %+v", found.brief(), causes)
		}
		s.gc("why", "namespace/"+ns).exits(t, 0).shows(t,
			", and stays while the namespace controller cannot delete configmaps (1).",
			"ValidatingAdmissionPolicy/e2e-precious (binding e2e-precious) refuses the deletion of ConfigMap/precious", "this one is under protection",
			"kubectl get validatingadmissionpolicy e2e-precious -o yaml")
		r := s.gc("why", "configmap/precious", "-n", ns).exits(t, 0).shows(t, "unless the namespace controller keeps failing", "kubectl gc why namespace/"+ns)
		if strings.Contains(r.Stdout, "No action is needed") {
			t.Errorf("why says: %s", r.Stdout)
		}
		s.must(s.client(newObject("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", "e2e-precious")).Delete(s.Context(), "e2e-precious", metav1.DeleteOptions{}))
		n.awaitGone()
	})
}
