package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	subject "github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// observation is a scan of the cluster with the packages of this module, without the program.
type observation struct {
	*scene
	cluster *client.Client
	seen    *snapshot.Snapshot
}

// scan scans the cluster.
func (s *scene) scan(scope scan.Scope) observation {
	s.Helper()
	c, err := client.New(s.config, client.Options{ChunkSize: 500, Concurrency: 4, Timeout: waitTimeout})
	s.must(err)
	seen, err := scan.Cluster(s.Context(), c, scan.Always(scope), time.Now)
	s.must(err)
	return observation{s, c, seen}
}

// inNamespace returns the scope of one namespace.
func inNamespace(namespace string) scan.Scope { return scan.Scope{Namespaces: []string{namespace}} }

// find returns an object as it was scanned, or nil.
func (s observation) find(o object) *subject.Object {
	for i := range s.seen.Objects {
		if s.seen.Objects[i].UID == o.GetUID() {
			return s.seen.Objects[i]
		}
	}
	return nil
}

// current returns an object in its current state.
func (s observation) current(o object) *subject.Object {
	s.Helper()
	live, err := s.client(o).Get(s.Context(), o.GetName(), metav1.GetOptions{})
	s.must(err)
	out := subject.FromMeta(o.GetAPIVersion(), o.GetKind(), live, false)
	return &out
}

// errorClass returns the class of an error.
func errorClass(err error) snapshot.ErrorClass {
	var failed *client.RequestError
	if errors.As(err, &failed) {
		return failed.Refusal()
	}
	return snapshot.ErrorClass(fmt.Sprint(err))
}

// remaining describes what a write has left of an object.
func remaining(o *subject.Object) string {
	switch {
	case o == nil:
		return "gone"
	case o.InGracePeriod():
		return fmt.Sprintf("stopping for %d s, %q", *o.GraceSeconds, o.Finalizers)
	case o.Terminating():
		return fmt.Sprintf("terminating, %q", o.Finalizers)
	}
	return fmt.Sprintf("there, %q", o.Finalizers)
}

func TestWriteDeleteReturnsRemainingState(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("deletes")
	onNode := func(o object) { o.Object["spec"].(map[string]any)["nodeName"] = "none" }
	const (
		background = metav1.DeletePropagationBackground
		foreground = metav1.DeletePropagationForeground
		orphan     = metav1.DeletePropagationOrphan
		foreign    = "example.com/hold"
	)
	for name, test := range map[string]struct {
		object object
		policy metav1.DeletionPropagation
		want   string
	}{
		"plain":                  {configMap(ns, "plain"), background, "gone"},
		"held":                   {configMap(ns, "held", heldBy(foreign)), background, `terminating, ["example.com/hold"]`},
		"foreground":             {configMap(ns, "foreground"), foreground, `terminating, ["foregroundDeletion"]`},
		"orphan":                 {configMap(ns, "orphan"), orphan, `terminating, ["orphan"]`},
		"orphan taken back":      {configMap(ns, "taken-back", heldBy("orphan")), background, "gone"},
		"widget, FG taken back":  {widget(ns, "taken-back", heldBy("foregroundDeletion")), background, "gone"},
		"foreground and held":    {configMap(ns, "both", heldBy(foreign)), foreground, `terminating, ["example.com/hold" "foregroundDeletion"]`},
		"service":                {newObject("v1", "Service", ns, "service", withField("spec", map[string]any{"clusterIP": "None"})), background, "gone"},
		"service account":        {newObject("v1", "ServiceAccount", ns, "account"), background, "gone"},
		"deployment":             {workload("Deployment", ns, "deployment"), foreground, `terminating, ["foregroundDeletion"]`},
		"pod without a node":     {pod(ns, "nowhere"), background, "gone"},
		"pod without a node, FG": {pod(ns, "nowhere-fg"), foreground, `terminating, ["foregroundDeletion"]`},
		"pod, orphan taken back": {pod(ns, "nowhere-orphan", heldBy("orphan")), background, "gone"},
		"pod on a node":          {pod(ns, "somewhere", onNode), background, `stopping for 30 s, []`},
		"pod on a node, FG":      {pod(ns, "somewhere-fg", onNode), foreground, `stopping for 30 s, ["foregroundDeletion"]`},
		"widget":                 {widget(ns, "plain"), background, "gone"},
		"widget, held":           {widget(ns, "held", heldBy(foreign)), background, `terminating, ["example.com/hold"]`},
		"widget, foreground":     {widget(ns, "foreground"), foreground, `terminating, ["foregroundDeletion"]`},
		"gadget, orphan":         {gadget("deletes-orphan"), orphan, `terminating, ["orphan"]`},
		"cluster role":           {clusterRole("deletes-plain"), background, "gone"},
		"namespace":              {newObject("v1", "Namespace", "", ns+"-itself"), background, `terminating, []`},
		"namespace, foreground":  {newObject("v1", "Namespace", "", ns+"-itself-fg"), foreground, `terminating, ["foregroundDeletion"]`},
		"custom resource definition": {
			definition("deletes.kubectl-gc.dev", "Thing", "Namespaced", version("v1", true)), background,
			`terminating, ["customresourcecleanup.apiextensions.k8s.io"]`,
		},
		"custom resource definition, foreground": {
			definition("deletes-fg.kubectl-gc.dev", "Thing", "Namespaced", version("v1", true)), foreground,
			`terminating, ["customresourcecleanup.apiextensions.k8s.io"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			if test.object.GetKind() == "CustomResourceDefinition" {
				s.define(test.object)
			} else {
				s.create(test.object)
			}
			live := s.created[len(s.created)-1]
			scanned := s.scan(scan.Scope{})
			// The status of a CRD may still change.
			o := scanned.current(live)
			for _, dry := range []bool{true, false} {
				got, err := write.New(scanned.cluster, scanned.seen, dry).Delete(t.Context(), o, test.policy, nil)
				if err != nil {
					t.Fatalf("dry run %v: %v", dry, err)
				}
				if remaining(got) != test.want {
					t.Errorf("dry run %v: %s, want %s", dry, remaining(got), test.want)
				}
				if got != nil && got.Identity != o.Identity {
					t.Errorf("dry run %v: answers %+v, want %+v", dry, got.Identity, o.Identity)
				}
				if dry {
					if now := scanned.current(live); now.Terminating() || now.ResourceVersion != o.ResourceVersion {
						t.Errorf("a dry run changed it: %s", remaining(now))
					}
				}
			}
			if test.want == "gone" != s.gone(live) && live.GetKind() != "CustomResourceDefinition" {
				t.Errorf("gone: %v", s.gone(live))
			}
		})
	}
}

func TestWriteFailsAfterAnyChange(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("bound")
	for kind, make := range map[string]func(string, string, ...func(object)) object{"builtin": configMap, "custom": widget} {
		for name, test := range map[string]struct {
			before func(*scene, object)
			delete snapshot.ErrorClass
			patch  snapshot.ErrorClass
		}{
			"changed since":          {func(s *scene, o object) { s.patch(o, `{"metadata":{"labels":{"a":"b"}}}`) }, snapshot.Conflict, snapshot.Conflict},
			"owners changed since":   {func(s *scene, o object) { s.patch(o, `{"metadata":{"ownerReferences":null}}`) }, snapshot.Conflict, snapshot.Conflict},
			"replaced since":         {func(s *scene, o object) { s.replace(o) }, snapshot.Conflict, snapshot.Gone},
			"gone since":             {func(s *scene, o object) { s.remove(o, metav1.DeletePropagationBackground) }, snapshot.Gone, snapshot.Gone},
			"terminating since":      {func(s *scene, o object) { s.remove(o, metav1.DeletePropagationForeground) }, snapshot.Conflict, snapshot.Conflict},
			"finalizer taken before": {func(s *scene, o object) { s.patch(o, `{"metadata":{"finalizers":null}}`) }, snapshot.Conflict, snapshot.Conflict},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				s := s.forSubtest(t)
				held := heldBy("orphan")
				if name == "gone since" || name == "replaced since" {
					held = func(object) {}
				}
				o := s.create(make(ns, "subject", held, ownedBy(reference("v1", "Secret", "a", "a"), reference("v1", "Secret", "b", "b"))))
				scanned := s.scan(inNamespace(ns))
				test.before(s, o)
				w := write.New(scanned.cluster, scanned.seen, false)
				if _, err := w.Delete(t.Context(), scanned.find(o), metav1.DeletePropagationBackground, nil); errorClass(err) != test.delete {
					t.Errorf("delete: %v, want %s", err, test.delete)
				}
				if _, err := w.Patch(t.Context(), scanned.find(o), subject.Change{Drop: []int{1}}); errorClass(err) != test.patch {
					t.Errorf("patch: %v, want %s", err, test.patch)
				}
				if name != "gone since" && name != "replaced since" {
					return
				}
				if now, err := w.Read(t.Context(), scanned.find(o).Identity); now != nil || err != nil {
					t.Errorf("read: %v, %v", now, err)
				}
				s.must(w.WaitForGone(t.Context(), scanned.find(o).Identity))
				if e, err := w.Verify(t.Context(), scanned.find(o).Identity); err != nil || len(e.Objects) != 0 {
					t.Errorf("examine: %+v, %v", e, err)
				}
			})
		}
	}
}

// A write has the UID as a precondition even if nothing else has changed.
func TestWriteFailsForAnotherUID(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("bound-uid")
	for _, o := range []object{s.create(configMap(ns, "subject")), s.create(widget(ns, "subject"))} {
		scanned := s.scan(inNamespace(ns))
		other := *scanned.find(o)
		other.UID = "another"
		w := write.New(scanned.cluster, scanned.seen, false)
		if _, err := w.Delete(t.Context(), &other, metav1.DeletePropagationBackground, nil); errorClass(err) != snapshot.Conflict {
			t.Errorf("delete: %v", err)
		}
		if _, err := w.Patch(t.Context(), &other, subject.Change{}); errorClass(err) != snapshot.Gone {
			t.Errorf("patch: %v", err)
		}
		if s.gone(o) {
			t.Error("it is gone")
		}
	}
}

// An object that waits because of the policy of its first DELETE can be deleted with another
// policy.
func TestWriteDeleteAgain(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("again")
	for name, test := range map[string]struct {
		object object
		policy metav1.DeletionPropagation
		want   string
	}{
		"background":         {configMap(ns, "a"), metav1.DeletePropagationBackground, "gone"},
		"orphan":             {configMap(ns, "b"), metav1.DeletePropagationOrphan, `terminating, ["orphan"]`},
		"background, held":   {configMap(ns, "c", heldBy("example.com/a")), metav1.DeletePropagationBackground, `terminating, ["example.com/a"]`},
		"background, widget": {widget(ns, "a"), metav1.DeletePropagationBackground, "gone"},
		"a pod":              {pod(ns, "a"), metav1.DeletePropagationBackground, "gone"},
		"a pod that has to stop keeps the first policy": {
			pod(ns, "b", func(o object) { o.Object["spec"].(map[string]any)["nodeName"] = "none" }),
			metav1.DeletePropagationBackground, `stopping for 30 s, ["foregroundDeletion"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			o := s.create(test.object)
			s.remove(o, metav1.DeletePropagationForeground)
			scanned := s.scan(inNamespace(ns))
			got, err := write.New(scanned.cluster, scanned.seen, false).Delete(t.Context(), scanned.find(o), test.policy, nil)
			if err != nil || remaining(got) != test.want || s.gone(o) != (got == nil) {
				t.Errorf("%s, %v, want %s; gone: %v", remaining(got), err, test.want, s.gone(o))
			}
		})
	}
}

func (s *scene) patch(o object, body string) {
	s.Helper()
	_, err := s.client(o).Patch(s.Context(), o.GetName(), types.MergePatchType, []byte(body), metav1.PatchOptions{})
	s.must(err)
}

func TestWritePatchChangesOnlyIntendedFields(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("patches")
	yes := true
	refs := []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "one", UID: "1", BlockOwnerDeletion: &yes},
		{APIVersion: "v1", Kind: "ConfigMap", Name: "other~1name", UID: "1"},
		{APIVersion: "v1", Kind: "Secret", Name: "two", UID: "2", BlockOwnerDeletion: &yes, Controller: &yes},
	}
	line := func(r subject.Reference) string {
		block := "unset"
		if r.BlockOwnerDeletion != nil {
			block = fmt.Sprint(*r.BlockOwnerDeletion)
		}
		return fmt.Sprint(r, " ", r.UID, " controls ", r.Controls(), " blocks ", block)
	}
	for kind, make := range map[string]func(string, string, ...func(object)) object{"builtin": configMap, "custom": widget, "pod": pod} {
		for name, test := range map[string]struct {
			change     subject.Change
			owners     []string
			finalizers []string
		}{
			"nothing": {subject.Change{}, []string{
				"ConfigMap/one 1 controls false blocks true", "ConfigMap/other~1name 1 controls false blocks unset", "Secret/two 2 controls true blocks true",
			}, []string{"example.com/a", "orphan", "example.com/b"}},
			"one of two with one uid": {subject.Change{Drop: []int{0}}, []string{
				"ConfigMap/other~1name 1 controls false blocks unset", "Secret/two 2 controls true blocks true",
			}, []string{"example.com/a", "orphan", "example.com/b"}},
			"the other of two": {subject.Change{Drop: []int{1}}, []string{
				"ConfigMap/one 1 controls false blocks true", "Secret/two 2 controls true blocks true",
			}, []string{"example.com/a", "orphan", "example.com/b"}},
			"first and last": {subject.Change{Drop: []int{0, 2}}, []string{
				"ConfigMap/other~1name 1 controls false blocks unset",
			}, []string{"example.com/a", "orphan", "example.com/b"}},
			"all": {subject.Change{Drop: []int{0, 1, 2}}, nil, []string{"example.com/a", "orphan", "example.com/b"}},
			"unblock": {subject.Change{Unblock: []int{0, 1, 2}}, []string{
				"ConfigMap/one 1 controls false blocks false", "ConfigMap/other~1name 1 controls false blocks false", "Secret/two 2 controls true blocks false",
			}, []string{"example.com/a", "orphan", "example.com/b"}},
			"relink one of two with one uid": {subject.Change{Rewrite: []subject.Rewrite{{Index: 1, Reference: subject.Reference{APIVersion: "v1", Kind: "ConfigMap", Name: "other~1name", UID: "9"}}}}, []string{
				"ConfigMap/one 1 controls false blocks true", "ConfigMap/other~1name 9 controls false blocks unset", "Secret/two 2 controls true blocks true",
			}, []string{"example.com/a", "orphan", "example.com/b"}},
			"relink the last and drop the first": {subject.Change{Drop: []int{0}, Rewrite: []subject.Rewrite{{Index: 2, Reference: subject.Reference{APIVersion: "v9", Kind: "Secret", Name: "two", UID: "9"}}}}, []string{
				"ConfigMap/other~1name 1 controls false blocks unset", "Secret/two 9 controls true blocks true",
			}, []string{"example.com/a", "orphan", "example.com/b"}},
			"unblock, drop and release": {subject.Change{Unblock: []int{0, 2}, Drop: []int{0, 1}, RemoveFinalizer: "orphan"}, []string{
				"Secret/two 2 controls true blocks false",
			}, []string{"example.com/a", "example.com/b"}},
			"release": {subject.Change{RemoveFinalizer: "example.com/a"}, []string{
				"ConfigMap/one 1 controls false blocks true", "ConfigMap/other~1name 1 controls false blocks unset", "Secret/two 2 controls true blocks true",
			}, []string{"orphan", "example.com/b"}},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				s := s.forSubtest(t)
				o := s.create(make(ns, "subject", ownedBy(refs...), heldBy("example.com/a", "orphan", "example.com/b")))
				scanned := s.scan(inNamespace(ns))
				for _, dry := range []bool{true, false} {
					got, err := write.New(scanned.cluster, scanned.seen, dry).Patch(t.Context(), scanned.find(o), test.change)
					if err != nil {
						t.Fatalf("dry run %v: %v", dry, err)
					}
					now := scanned.current(o)
					if dry && now.ResourceVersion != scanned.find(o).ResourceVersion {
						t.Error("a dry run changed it")
					}
					if !dry {
						if diff := cmp.Diff(now, got); diff != "" {
							t.Errorf("what is there and what was answered (-want +got):\n%s", diff)
						}
					}
					var owners []string
					for _, r := range got.Owners {
						owners = append(owners, line(r))
					}
					if diff := cmp.Diff(test.owners, owners); diff != "" {
						t.Errorf("dry run %v: owners (-want +got):\n%s", dry, diff)
					}
					if diff := cmp.Diff(test.finalizers, got.Finalizers); diff != "" {
						t.Errorf("dry run %v: finalizers (-want +got):\n%s", dry, diff)
					}
					predicted := test.change.Apply(*scanned.find(o))
					if diff := cmp.Diff(predicted.Owners, got.Owners); diff != "" && len(predicted.Owners) > 0 {
						t.Errorf("not what the change says (-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}

func TestWritePatchRemovesLastFinalizer(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("letting-go")
	background := metav1.DeletePropagationBackground
	for name, test := range map[string]struct {
		object  object
		release string
		want    string
	}{
		"its only finalizer":        {configMap(ns, "only", heldBy("example.com/a")), "example.com/a", "gone"},
		"one of two":                {configMap(ns, "two", heldBy("example.com/a", "example.com/b")), "example.com/a", `terminating, ["example.com/b"]`},
		"a widget":                  {widget(ns, "only", heldBy("example.com/a")), "example.com/a", "gone"},
		"a pod without a node":      {pod(ns, "nowhere", heldBy("example.com/a")), "example.com/a", "gone"},
		"a pod that has to stop":    {pod(ns, "somewhere", heldBy("example.com/a"), func(o object) { o.Object["spec"].(map[string]any)["nodeName"] = "none" }), "example.com/a", "stopping for 30 s, []"},
		"a namespace stays":         {newObject("v1", "Namespace", "", ns+"-itself", heldBy("example.com/a")), "example.com/a", "terminating, []"},
		"a role of a whole cluster": {clusterRole("letting-go", heldBy("example.com/a")), "example.com/a", "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			o := s.create(test.object)
			s.remove(o, background)
			scanned := s.scan(scan.Scope{})
			for _, dry := range []bool{true, false} {
				got, err := write.New(scanned.cluster, scanned.seen, dry).Patch(t.Context(), scanned.find(o), subject.Change{RemoveFinalizer: test.release})
				if err != nil || remaining(got) != test.want {
					t.Errorf("dry run %v: %s, %v, want %s", dry, remaining(got), err, test.want)
				}
				if dry && s.gone(o) {
					t.Error("a dry run let it go")
				}
			}
			if s.gone(o) != (test.want == "gone") {
				t.Errorf("gone: %v", s.gone(o))
			}
		})
	}
}

// If the server refuses a write, the error says why, and nothing changes.
func TestWriteRefusals(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("refused")
	o := s.create(configMap(ns, "subject", ownedBy(reference("v1", "Secret", "a", "a")), heldBy("example.com/a")))
	scanned := s.scan(inNamespace(ns))
	s.grant("reader", "", []any{"*"}, []any{"*"}, []any{"list", "get"})
	config := *s.config
	config.Impersonate.UserName = "reader"
	reader, err := client.New(&config, client.Options{Timeout: waitTimeout})
	s.must(err)
	for _, dry := range []bool{true, false} {
		w := write.New(reader, scanned.seen, dry)
		_, err := w.Delete(t.Context(), scanned.find(o), metav1.DeletePropagationBackground, nil)
		want := fmt.Sprintf(`delete ConfigMap/subject in namespace %s: configmaps "subject" is forbidden: User "reader" cannot delete resource "configmaps" in API group "" in the namespace %q`, ns, ns)
		if errorClass(err) != snapshot.Forbidden || err.Error() != want {
			t.Errorf("delete: %v", err)
		}
		for _, change := range []subject.Change{{}, {Drop: []int{0}}} {
			if _, err := w.Patch(t.Context(), scanned.find(o), change); errorClass(err) != snapshot.Forbidden {
				t.Errorf("patch: %v", err)
			}
		}
	}
	w := write.New(scanned.cluster, scanned.seen, false)
	unknown := *scanned.find(o)
	unknown.Kind = "Nothing"
	if _, err := w.Delete(t.Context(), &unknown, metav1.DeletePropagationBackground, nil); errorClass(err) != snapshot.Unverified {
		t.Errorf("delete of no known kind: %v", err)
	}
	unbound := *scanned.find(o)
	unbound.ResourceVersion = ""
	if _, err := w.Patch(t.Context(), &unbound, subject.Change{Drop: []int{0}}); errorClass(err) != snapshot.Unverified {
		t.Errorf("patch of an unknown resourceVersion: %v", err)
	}
	if diff := cmp.Diff(scanned.find(o), scanned.current(o)); diff != "" {
		t.Errorf("it changed (-want +got):\n%s", diff)
	}
}

// After a CRD is deleted, the 404 for its path does not prove that its objects are gone.
func TestWriteToUnservedPathProvesNothing(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("unserved")
	s.define(definition("unserved.kubectl-gc.dev", "Thing", "Namespaced", version("v1", true)))
	crd := s.created[len(s.created)-1]
	o := s.create(newObject("unserved.kubectl-gc.dev/v1", "Thing", ns, "subject"))
	scanned := s.scan(inNamespace(ns))
	s.remove(crd, metav1.DeletePropagationBackground)
	s.awaitCRDGone(crd)
	w := write.New(scanned.cluster, scanned.seen, false)
	if _, err := w.Delete(t.Context(), scanned.find(o), metav1.DeletePropagationBackground, nil); errorClass(err) != snapshot.Unverified {
		t.Errorf("delete: %v", err)
	}
	if _, err := w.Patch(t.Context(), scanned.find(o), subject.Change{}); errorClass(err) != snapshot.Unverified {
		t.Errorf("patch: %v", err)
	}
	if now, err := w.Read(t.Context(), scanned.find(o).Identity); now != nil || errorClass(err) != snapshot.Unverified {
		t.Errorf("read: %v, %v", now, err)
	}
	failed, err := read.Manifests(t.Context(), scanned.cluster, scanned.seen, []subject.Identity{scanned.find(o).Identity}, func(subject.Object, json.RawMessage) error { return nil })
	if err != nil || errorClass(failed[o.GetUID()]) != snapshot.Unverified {
		t.Errorf("manifests: %v, %v", failed, err)
	}
}

// Every reference is judged by the current state of its owner.
func TestWriteReadState(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("examine")
	solid, replaced, gone := s.create(secret(ns, "solid")), s.create(secret(ns, "replaced")), s.create(configMap(ns, "gone"))
	waiting, above := s.create(widget(ns, "waiting")), s.create(gadget("examine-above"))
	o := s.create(configMap(ns, "subject"))
	s.setOwners(o,
		referenceTo(solid), referenceTo(replaced), referenceTo(gone), referenceTo(waiting), referenceTo(above), referenceTo(o),
		reference("v1", "Secret", "never", "never"),
		reference(customGroup+"/v1alpha1", "Widget", "waiting", waiting.GetUID()),
		reference("v1", "Secret", "solid/../x", "x"),
		reference("v1", "SecretList", "list", "list"),
		reference("v1", "ConfigMap", "later", "later"),
	)
	for i, scope := range []scan.Scope{{}, inNamespace(ns)} {
		t.Run([]string{"of everything", "of the namespace"}[i], func(t *testing.T) {
			scanned := s.scan(scope)
			if i == 0 { // the owners change between the scan and the verification
				s.replace(replaced)
				s.remove(gone, metav1.DeletePropagationBackground)
				s.remove(waiting, metav1.DeletePropagationForeground)
			}
			e, err := write.New(scanned.cluster, scanned.seen, false).Verify(t.Context(), scanned.find(o).Identity)
			s.must(err)
			if diff := cmp.Diff([]*subject.Object{scanned.find(o)}, e.Objects); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			g := graph.New(e)
			got := collector.Verdicts(collector.NewJudge(g).Object(g.Find(o.GetUID())))
			want := []collector.Verdict{
				collector.VerdictSolid, collector.VerdictDangling, collector.VerdictDangling, collector.VerdictWaiting, collector.VerdictSolid, collector.VerdictSolid,
				collector.VerdictDangling, collector.VerdictUnresolvable, collector.VerdictUnknown, collector.VerdictDangling, collector.VerdictDangling,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			// Each owner is looked up again, even if a list has shown it.
			if len(e.Lookups) != 8 {
				t.Errorf("lookups: %+v", e.Lookups)
			}
		})
	}
}

func TestWriteRelistReadsNewObjects(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("relist")
	scanned := s.scan(inNamespace(ns))
	owner := s.create(configMap(ns, "owner"))
	s.create(secret(ns, "dependent", ownedBy(referenceTo(owner))))
	s.create(configMap(s.namespace("other"), "elsewhere", ownedBy(referenceTo(owner))))
	relisted, err := write.New(scanned.cluster, scanned.seen, false).Relist(t.Context())
	s.must(err)
	g := graph.New(relisted)
	if got := len(g.Dependents(g.Find(owner.GetUID()))); got != 2 || !relisted.Complete() {
		t.Errorf("%d dependents, gaps %v", got, relisted.Gaps)
	}
}

func TestWriteWaitForGone(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("await")
	o := s.create(configMap(ns, "subject", heldBy("example.com/a")))
	scanned := s.scan(inNamespace(ns))
	w := write.New(scanned.cluster, scanned.seen, false)
	s.remove(o, metav1.DeletePropagationBackground)
	brief, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	if err := w.WaitForGone(brief, scanned.find(o).Identity); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is there: %v", err)
	}
	ended := make(chan error)
	go func() { ended <- w.WaitForGone(t.Context(), scanned.find(o).Identity) }()
	s.patch(o, `{"metadata":{"finalizers":null}}`)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWriteManifests(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns, other := s.namespace("manifests"), s.namespace("manifests-other")
	data := map[string]any{"number": "1", "text": "<&> \u2028 ü"}
	spec := map[string]any{"big": int64(9007199254740993), "float": 1.5, "odd <name>": []any{nil, true}}
	var created []object
	for i := range 12 {
		created = append(created, s.create(configMap(ns, fmt.Sprint("many-", i), withField("data", data), heldBy("example.com/a"))))
		created = append(created, s.create(widget(ns, fmt.Sprint("many-", i), withField("spec", spec), withField("Metadata", map[string]any{"uid": "not this one"}))))
	}
	created = append(created, s.create(secret(ns, "one")), s.create(widget(other, "one", withField("spec", spec))), s.create(gadget("manifests-one", withField("spec", spec))))
	for name, scope := range map[string]scan.Scope{"of everything": {}, "of the namespaces": {Namespaces: []string{ns, other}, Targets: []snapshot.Coordinates{
		{APIVersion: customGroup + "/v1", Kind: "Gadget", Name: "manifests-one"},
	}}} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			vanished, replaced := s.create(configMap(ns, "vanished")), s.create(secret(ns, "replaced"))
			scanned := s.scan(scope)
			s.remove(vanished, metav1.DeletePropagationBackground)
			s.replace(replaced)
			var wanted []subject.Identity
			for _, o := range append(slices.Clone(created), vanished, replaced) {
				wanted = append(wanted, subject.Identity{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()})
			}
			s.patch(created[0], fmt.Sprintf(`{"metadata":{"labels":{"changed":"since-%d"}}}`, len(scope.Namespaces)))
			got := map[types.UID]string{}
			failed, err := read.Manifests(t.Context(), scanned.cluster, scanned.seen, wanted, func(o subject.Object, raw json.RawMessage) error {
				if got[o.UID] != "" {
					t.Errorf("%s was passed on twice", o)
				}
				got[o.UID] = string(raw)
				var live object
				for _, c := range created {
					if c.GetUID() == o.UID {
						live = c
					}
				}
				if diff := cmp.Diff(scanned.current(live), &o); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return nil
			})
			if err != nil || len(failed) != 0 {
				t.Fatalf("%v, %v", failed, err)
			}
			if len(got) != len(created) {
				t.Errorf("%d manifests, want %d", len(got), len(created))
			}
			for _, o := range created {
				live, err := s.client(o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
				s.must(err)
				var manifest map[string]any
				decoder := json.NewDecoder(strings.NewReader(got[o.GetUID()]))
				decoder.UseNumber()
				s.must(decoder.Decode(&manifest))
				want, err := live.MarshalJSON()
				s.must(err)
				var plain map[string]any
				decoder = json.NewDecoder(strings.NewReader(string(want)))
				decoder.UseNumber()
				s.must(decoder.Decode(&plain))
				if diff := cmp.Diff(plain, manifest); diff != "" {
					t.Errorf("%s (-want +got):\n%s", o.GetName(), diff)
				}
			}
		})
	}
}

// An error of the callback ends the listing.
func TestWriteManifestsStopOnError(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("manifests-stop")
	var wanted []subject.Identity
	for i := range 3 {
		s.create(configMap(ns, fmt.Sprint("a-", i)))
	}
	scanned := s.scan(inNamespace(ns))
	for _, o := range scanned.seen.Objects {
		if o.Kind == "ConfigMap" {
			wanted = append(wanted, o.Identity)
		}
	}
	full, calls := errors.New("the disk is full"), 0
	_, err := read.Manifests(t.Context(), scanned.cluster, scanned.seen, wanted, func(subject.Object, json.RawMessage) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// Running marks the Pods that a kubelet has to stop. Only a scan that asks for it reads them.
func TestScanMarksRunningPods(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("running")
	onNode := func(o object) { o.Object["spec"].(map[string]any)["nodeName"] = "none" }
	phase := func(p string) func(object) { return withField("status", map[string]any{"phase": p}) }
	want := map[string]bool{"nowhere": false, "somewhere": true, "runs": true, "done": false, "broken": false, "stopping": false}
	s.create(pod(ns, "nowhere"))
	s.create(pod(ns, "somewhere", onNode))
	s.create(pod(ns, "runs", onNode, phase("Running")))
	s.create(pod(ns, "done", onNode, phase("Succeeded")))
	s.create(pod(ns, "broken", onNode, phase("Failed")))
	s.remove(s.create(pod(ns, "stopping", onNode)), metav1.DeletePropagationBackground)
	for name, scope := range map[string]scan.Scope{"everywhere": {Running: true}, "here": {Namespaces: []string{ns}, Running: true}, "unasked": inNamespace(ns)} {
		got := map[string]bool{}
		for _, o := range s.scan(scope).seen.Objects {
			if o.Kind == "Pod" && o.Namespace == ns {
				got[o.Name] = o.Running
			}
		}
		expected := want
		if !scope.Running {
			expected = map[string]bool{"nowhere": false, "somewhere": false, "runs": false, "done": false, "broken": false, "stopping": false}
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWriteWidensScanIfFinalizersWaitForDependents(t *testing.T) {
	s := newScene(t)
	ns, other := s.namespace("widen"), s.namespace("widen-other")
	owner := s.create(configMap(ns, "owner"))
	elsewhere := s.create(secret(other, "elsewhere", ownedBy(referenceTo(owner, blocking))))
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"nothing waits", func() {}, false},
		{"the finalizer is there", func() { s.patch(owner, `{"metadata":{"finalizers":["orphan"]}}`) }, true},
		{"it is being deleted", func() { s.remove(owner, metav1.DeletePropagationForeground) }, true},
	} {
		step.do()
		for widen, want := range map[scan.Widening]bool{scan.WidenKinds: false, scan.WidenAll: step.want} {
			scanned := s.scan(scan.Scope{Namespaces: []string{ns}, Widen: widen})
			if got := scanned.find(elsewhere) != nil; got != want {
				t.Errorf("%s, widening %d: scans the dependent elsewhere: %v, want %v", step.name, widen, got, want)
			}
		}
	}
}
