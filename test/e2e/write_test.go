package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
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
	c, err := client.New(s.config, client.Config{ChunkSize: 500, Concurrency: 4, Timeout: waitTimeout})
	s.must(err)
	seen, err := scan.Cluster(s.Context(), c, nil, scope, time.Now)
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
		return failed.Class()
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

// The answer of a DELETE is a Status or an object, depending on the type and on what is left.
func TestWriteDeleteReturnsRemainingState(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("deletes")
	onNode := func(o object) { o.Object["spec"].(map[string]any)["nodeName"] = "none" }
	const (
		background = metav1.DeletePropagationBackground
		foreground = metav1.DeletePropagationForeground
		orphan     = metav1.DeletePropagationOrphan
	)
	cases := map[string]struct {
		object object
		policy metav1.DeletionPropagation
		want   string
	}{
		"plain":                 {configMap(ns, "plain"), background, "gone"},
		"orphan taken back":     {configMap(ns, "taken-back", heldBy("orphan")), background, "gone"},
		"foreground and held":   {configMap(ns, "both", heldBy("example.com/hold")), foreground, `terminating, ["example.com/hold" "foregroundDeletion"]`},
		"service":               {newObject("v1", "Service", ns, "service", withField("spec", map[string]any{"clusterIP": "None"})), background, "gone"},
		"deployment":            {workload("Deployment", ns, "deployment"), foreground, `terminating, ["foregroundDeletion"]`},
		"pod without a node":    {pod(ns, "nowhere"), background, "gone"},
		"pod on a node":         {pod(ns, "somewhere", onNode), background, `stopping for 30 s, []`},
		"pod on a node, FG":     {pod(ns, "somewhere-fg", onNode), foreground, `stopping for 30 s, ["foregroundDeletion"]`},
		"widget":                {widget(ns, "plain"), background, "gone"},
		"widget, held":          {widget(ns, "held", heldBy("example.com/hold")), background, `terminating, ["example.com/hold"]`},
		"widget, FG taken back": {widget(ns, "taken-back", heldBy("foregroundDeletion")), background, "gone"},
		"gadget, orphan":        {gadget("deletes-orphan"), orphan, `terminating, ["orphan"]`},
		"namespace, foreground": {newObject("v1", "Namespace", "", ns+"-itself-fg"), foreground, `terminating, ["foregroundDeletion"]`},
		"custom resource definition": {
			definition("deletes.kubectl-gc.dev", "Thing", "Namespaced", version("v1", true)), background, `terminating, ["customresourcecleanup.apiextensions.k8s.io"]`,
		},
	}
	live := map[string]object{}
	for name, c := range cases {
		if c.object.GetKind() == "CustomResourceDefinition" {
			s.define(c.object)
		} else {
			s.create(c.object)
		}
		live[name] = s.created[len(s.created)-1]
	}
	scanned := s.scan(scan.Scope{})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			o := scanned.current(live[name]) // the status of a CRD may still change
			for _, dry := range []bool{true, false} {
				got, err := write.New(scanned.cluster, scanned.seen, dry).Delete(t.Context(), o, c.policy, nil)
				if err != nil || remaining(got) != c.want || got != nil && got.Identity != o.Identity {
					t.Fatalf("dry run %v: %s, %v, want %s", dry, remaining(got), err, c.want)
				}
				if dry {
					if now := scanned.current(live[name]); now.Terminating() || now.ResourceVersion != o.ResourceVersion {
						t.Errorf("a dry run changed it: %s", remaining(now))
					}
				}
			}
			if c.want == "gone" != s.gone(live[name]) && o.Kind != "CustomResourceDefinition" {
				t.Errorf("gone: %v", s.gone(live[name]))
			}
		})
	}
}

func TestWriteFailsAfterAnyChange(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns := s.namespace("bound")
	cases := map[string]struct {
		before func(o object)
		delete snapshot.ErrorClass
		patch  snapshot.ErrorClass
	}{
		"changed":     {func(o object) { s.patch(o, `{"metadata":{"labels":{"a":"b"}}}`) }, snapshot.Conflict, snapshot.Conflict},
		"unlinked":    {func(o object) { s.patch(o, `{"metadata":{"ownerReferences":null}}`) }, snapshot.Conflict, snapshot.Conflict},
		"replaced":    {func(o object) { s.replace(o) }, snapshot.Conflict, snapshot.Gone},
		"gone":        {func(o object) { s.remove(o, metav1.DeletePropagationBackground) }, snapshot.Gone, snapshot.Gone},
		"terminating": {func(o object) { s.remove(o, metav1.DeletePropagationForeground) }, snapshot.Conflict, snapshot.Conflict},
		"released":    {func(o object) { s.patch(o, `{"metadata":{"finalizers":null}}`) }, snapshot.Conflict, snapshot.Conflict},
		// The UID is a precondition even if nothing else has changed.
		"another-uid": {func(object) {}, snapshot.Conflict, snapshot.Gone},
	}
	objects := map[string]object{}
	for kind, make := range map[string]func(string, string, ...func(object)) object{"builtin ": configMap, "custom ": widget} {
		for name := range cases {
			held := heldBy("orphan")
			if name == "gone" || name == "replaced" || name == "another-uid" {
				held = func(object) {}
			}
			objects[kind+name] = s.create(make(ns, name, held, ownedBy(reference("v1", "Secret", "a", "a"), reference("v1", "Secret", "b", "b"))))
		}
	}
	scanned := s.scan(inNamespace(ns))
	w := write.New(scanned.cluster, scanned.seen, false)
	for name, o := range objects {
		t.Run(name, func(t *testing.T) {
			c, known := cases[o.GetName()], *scanned.find(o)
			c.before(o)
			if o.GetName() == "another-uid" {
				known.UID = "another"
			}
			if _, err := w.Delete(t.Context(), &known, metav1.DeletePropagationBackground, nil); errorClass(err) != c.delete {
				t.Errorf("delete: %v, want %s", err, c.delete)
			}
			if _, err := w.Patch(t.Context(), &known, subject.Change{Drop: []int{1}}); errorClass(err) != c.patch {
				t.Errorf("patch: %v, want %s", err, c.patch)
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
	refs := []metav1.OwnerReference{
		reference("v1", "ConfigMap", "one", "1", blocking), reference("v1", "ConfigMap", "other~1name", "1"), reference("v1", "Secret", "two", "2", blocking, controlling),
	}
	no := false
	unblocked := func(r metav1.OwnerReference) metav1.OwnerReference { r.BlockOwnerDeletion = &no; return r }
	held := []string{"example.com/a", "orphan", "example.com/b"}
	cases := map[string]struct {
		change     subject.Change
		owners     []metav1.OwnerReference
		finalizers []string
	}{
		"one-of-two-with-one-uid": {subject.Change{Drop: []int{0}}, refs[1:], held},
		"first-and-last":          {subject.Change{Drop: []int{0, 2}}, refs[1:2], held},
		"all":                     {subject.Change{Drop: []int{0, 1, 2}}, nil, held},
		"unblock":                 {subject.Change{Unblock: []int{0, 1, 2}}, []metav1.OwnerReference{unblocked(refs[0]), unblocked(refs[1]), unblocked(refs[2])}, held},
		"relink-one-of-two": {
			subject.Change{Rewrite: []subject.Rewrite{{Index: 1, Reference: subject.Reference{APIVersion: "v1", Kind: "ConfigMap", Name: "other~1name", UID: "9"}}}},
			[]metav1.OwnerReference{refs[0], reference("v1", "ConfigMap", "other~1name", "9"), refs[2]},
			held,
		},
		"unblock-drop-and-release": {
			subject.Change{Unblock: []int{0, 2}, Drop: []int{0, 1}, RemoveFinalizer: "orphan"},
			[]metav1.OwnerReference{unblocked(refs[2])},
			[]string{"example.com/a", "example.com/b"},
		},
	}
	objects := map[string]object{}
	for kind, make := range map[string]func(string, string, ...func(object)) object{"builtin ": configMap, "custom ": widget, "pod ": pod} {
		for name := range cases {
			objects[kind+name] = s.create(make(ns, name, ownedBy(refs...), heldBy(held...)))
		}
	}
	scanned := s.scan(inNamespace(ns))
	for name, o := range objects {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			c := cases[o.GetName()]
			if _, err := write.New(scanned.cluster, scanned.seen, true).Patch(t.Context(), scanned.find(o), c.change); err != nil {
				t.Fatal(err)
			}
			s.requireUnchanged(o)
			got, err := write.New(scanned.cluster, scanned.seen, false).Patch(t.Context(), scanned.find(o), c.change)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(scanned.current(o), got); diff != "" {
				t.Errorf("what is there and what was answered (-want +got):\n%s", diff)
			}
			s.requireReferences(o, c.owners...)
			if diff := cmp.Diff(c.finalizers, s.live(o).GetFinalizers()); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
		})
	}
}
