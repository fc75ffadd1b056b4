package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// awaitCollectorEvent waits until the collector has reported a reference into another namespace.
func (s *scene) awaitCollectorEvent(o object) {
	s.Helper()
	events := s.client(newObject("v1", "Event", o.GetNamespace(), ""))
	s.await("an Event about "+o.GetName(), func(ctx context.Context) (bool, error) {
		list, err := events.List(ctx, metav1.ListOptions{FieldSelector: "reason=OwnerRefInvalidNamespace,involvedObject.name=" + o.GetName()})
		return err == nil && len(list.Items) > 0, err
	})
}

// The real collector does what why predicts. The Event that it writes about a reference into another namespace is
// shown, both for an object that it has kept and for one that it has deleted.
func TestWhyPredictsTheRealCollector(t *testing.T) {
	s := withRealCollector.newScene(t)
	ns, far := s.namespace("why-foretells"), s.namespace("why-away")
	owner, stranger := s.create(configMap(ns, "owner")), s.create(configMap(far, "stranger"))
	gone := reference("v1", "ConfigMap", "gone", "00000000-0000-0000-0000-00000000000a")
	for name, refs := range map[string][]metav1.OwnerReference{
		"alone": nil, "good": {referenceTo(owner)}, "missing": {gone}, "shared": {gone, referenceTo(owner)}, "cross": {referenceTo(stranger)}, "kept": {referenceTo(stranger), referenceTo(owner)},
		"unserved": {referenceTo(owner, versioned("v9")), gone}, "misnamed": {referenceTo(owner, named("else"))},
		"misspelled": {reference("v1", "configmap", "owner", owner.GetUID())},
	} {
		s.create(configMap(ns, name, ownedBy(refs...)))
	}
	below := s.create(secret(ns, "below", ownedBy(referenceTo(s.live(configMap(ns, "missing"))))))
	held := s.create(configMap(ns, "held", heldBy(hold), ownedBy(referenceTo(owner))))
	s.remove(held, metav1.DeletePropagationBackground)

	names := []string{"alone", "good", "missing", "shared", "cross", "kept", "unserved", "misnamed", "misspelled", "held"}
	targets := []string{"why", "-n", ns, "-o", "jsonpath={range .answers[*]}{.object.name} {.consequence}{\"\\n\"}{end}", "secret/below"}
	for _, name := range names {
		targets = append(targets, "configmap/"+name)
	}
	predicted := map[string]string{}
	for line := range strings.Lines(s.gc(targets...).exits(t, 0).Stdout) {
		name, consequence, _ := strings.Cut(strings.TrimSpace(line), " ")
		predicted[name] = consequence
	}
	s.gc("audit", "-n", ns, "--rule=misspelled-owner-kind").shows(t, "ConfigMap/misspelled")
	s.switchCollector(testcluster.On)
	defer s.switchCollector(testcluster.Absent)
	s.await("the collector to come to the end", func(context.Context) (bool, error) { return s.gone(below), nil })
	for range 3 {
		s.awaitSentinel(ns)
	}
	for _, name := range append(names, "below") {
		o := configMap(ns, name)
		if name == "below" {
			o = below
		}
		live, err := s.client(o).Get(t.Context(), name, metav1.GetOptions{})
		became := "none"
		switch {
		case err != nil:
			became = "delete"
		case (name == "shared" || name == "kept") && len(live.GetOwnerReferences()) == 1:
			became = "unlink"
		case name == "unserved" && len(live.GetOwnerReferences()) == 2:
			became = "stuck"
		}
		if predicted[name] != became {
			t.Errorf("%s: foretold %q, and it became %q", name, predicted[name], became)
		}
	}

	s.awaitCollectorEvent(configMap(ns, "kept"))
	s.awaitCollectorEvent(configMap(ns, "cross"))
	s.gc("why", "configmap/kept", "-n", ns).exits(t, 0).
		shows(t, "ConfigMap/kept stays", "OwnerRefInvalidNamespace, from garbage-collector-controller", "does not exist in namespace")
	s.gc("why", "configmap/cross", "-n", ns).exits(t, 0).
		shows(t, "ConfigMap/cross in namespace "+ns+" is gone: the garbage collector reported that its owner is not in this namespace", "OwnerRefInvalidNamespace", "Remove the owner reference from its manifest before you create it again")
}

func TestWhyOfDeletedObject(t *testing.T) {
	s := newScene(t)
	ns, other := s.namespace("why-gone"), s.namespace("why-other")
	s.create(configMap(other, "typo"))
	owner := s.create(configMap(ns, "owner"))
	s.create(secret(ns, "orphan", ownedBy(referenceTo(owner))))
	s.remove(owner, metav1.DeletePropagationBackground) // no collector is running, so its dependent stays
	s.create(newObject("v1", "Event", ns, "told.1", withField("involvedObject", map[string]any{
		"apiVersion": "v1", "kind": "Pod", "namespace": ns, "name": "worker", "uid": "u1",
	}), withField("reason", "Evicted"), withField("type", "Warning"), withField("message", "The node was low on \x1b[31mmemory"), withField("source", map[string]any{"component": "kubelet"}),
		withField("lastTimestamp", time.Now().UTC().Format(time.RFC3339)), withField("count", int64(3))))

	t.Run("dependents still refer to it", func(t *testing.T) {
		s.gc("why", "configmap/owner", "-n", ns).exits(t, 0).shows(t, "ConfigMap/owner in namespace "+ns+" does not exist: 1 object still names it as its owner.", "Secret/orphan")
		s.gc("why", "--uid", string(owner.GetUID())).exits(t, 0).shows(t, "does not exist", "Secret/orphan")
	})
	t.Run("Events mention it", func(t *testing.T) {
		r := s.gc("why", "pod/worker", "-n", ns).exits(t, 0).shows(t, "Pod/worker in namespace "+ns+" no longer exists: Events still mention it.", "Evicted, from kubelet, 3 times", `\x1b[31m`)
		if err := safeForTerminal(r.Stdout); err != nil {
			t.Error(err)
		}
	})
	t.Run("nothing mentions it", func(t *testing.T) {
		s.gc("why", "configmap/typo", "-n", ns).exits(t, 1).
			shows(t, "No ConfigMap/typo in namespace "+ns+" exists, and nothing refers to it", "no Event mentions it", "ConfigMap/typo exists in namespace "+other)
	})
	t.Run("an admin does not have to name the namespace", func(t *testing.T) {
		s.gc("why", "configmap/typo", "-A").exits(t, 2).warns(t, "may exist in several namespaces", "-n")
	})
}

// A user who may read one namespace only gets an answer that names what could not be read.
func TestWhyWithPermissionsInOneNamespace(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("why-mine")
	s.create(configMap(ns, "doomed", ownedBy(reference("v1", "ConfigMap", "gone", "00000000-0000-0000-0000-00000000000b"))))
	s.create(configMap(ns, "unsure", ownedBy(reference("v1", "Secret", "token", "00000000-0000-0000-0000-00000000000c"))))
	s.grant("dave", ns, []any{""}, []any{"configmaps"}, []any{"list", "get"})
	dave := s.toolAs("dave")
	dave.gc("why", "configmap/doomed", "-n", ns).exits(t, 0).
		shows(t, "The garbage collector will delete ConfigMap/doomed", "This tool could not read everything", "Incomplete scan.")
	dave.gc("why", "configmap/unsure", "-n", ns).exits(t, 0).
		shows(t, "It is unknown what happens to ConfigMap/unsure", "kubectl auth can-i")
	dave.gc("why", "configmap/none", "-n", ns).exits(t, 1).
		shows(t, "No ConfigMap/none", "Its Events are not available: read the Events about ConfigMap/none in namespace "+ns, "forbidden")
	dave.gc("why", "secret/none", "-n", ns).exits(t, 2).warns(t, `"secrets/none" in namespace`, "could not be read (forbidden)")
	dave.gc("why", "configmap/doomed", "-n", ns, "--strict").exits(t, 3)
}

// joiner applies what another manager has applied. The API server records no time for it, since
// the object does not change.
const joiner = "joiner"

// writers returns, for each reference and finalizer by name, the managers and operations.
func (e explanation) writers(t *testing.T, since time.Time) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, a := range e.Answers {
		for _, written := range append(a.References, a.Finalizers...) {
			if written.WrittenBy == nil {
				t.Errorf("writtenBy of %s is null or absent", written.Name)
			}
			out[written.Name] = ""
			for _, w := range written.WrittenBy {
				out[written.Name] += w.Manager + " " + w.Operation + ";"
				if w.Manager == joiner != w.Time.IsZero() || !w.Time.IsZero() && (w.Time.Before(since) || w.Time.After(time.Now())) {
					t.Errorf("%s wrote %s at %s, want a time since %s", w.Manager, written.Name, w.Time, since)
				}
			}
		}
	}
	return out
}

func (s *scene) writersOf(ns, target string, since time.Time, more ...string) map[string]string {
	s.Helper()
	r := s.gc(append([]string{"why", target, "-n", ns, "-o", "json"}, more...)...).exits(s.T, 0)
	var e explanation
	s.must(json.Unmarshal([]byte(r.Stdout), &e))
	return e.writers(s.T, since)
}

// The API server tracks each reference and finalizer by itself: why names who applied one and who
// patched in another, and everyone who applied the same.
func TestWhySaysWhoWroteReferencesAndFinalizers(t *testing.T) {
	s := newScene(t)
	since := time.Now().Add(-2 * time.Second) // recorded times have whole seconds
	ns := s.namespace("why-writers")
	one, two := s.create(configMap(ns, "one")), s.create(configMap(ns, "two"))
	applied := s.writeFile("applied.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: `+ns+`, finalizers: [example.com/applied],
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: one, uid: `+string(one.GetUID())+`}]}}`)
	s.kubectl("apply", "--server-side", "--field-manager=applier", "-f", applied).exits(t, 0)
	s.created = append(s.created, configMap(ns, "held"))
	s.kubectl("patch", "configmap/held", "-n", ns, "--field-manager=patcher", "--type=json", "-p", `[
		{"op": "add", "path": "/metadata/ownerReferences/-", "value": {"apiVersion": "v1", "kind": "ConfigMap", "name": "two", "uid": "`+string(two.GetUID())+`"}},
		{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/patched"}]`).exits(t, 0)

	want := map[string]string{"one": "applier Apply;", "two": "patcher Update;", "example.com/applied": "applier Apply;", "example.com/patched": "patcher Update;"}
	requireWriters(t, want, s.writersOf(ns, "configmap/held", since))
	s.gc("why", "configmap/held", "-n", ns).exits(t, 0).shows(t, "     written by applier (Apply), at 20", "     written by patcher (Update), at 20", "Z or before\n")

	s.kubectl("apply", "--server-side", "--field-manager="+joiner, "-f", applied).exits(t, 0)
	want["one"], want["example.com/applied"] = "joiner Apply;applier Apply;", "joiner Apply;applier Apply;"
	requireWriters(t, want, s.writersOf(ns, "configmap/held", since))

	unknown := map[string]string{"one": "", "two": "", "example.com/applied": "", "example.com/patched": ""}
	file := s.writeFile("snapshot.json", s.gc("snapshot", "-n", ns, "-o", "-").exits(t, 0).Stdout)
	requireWriters(t, unknown, s.writersOf(ns, "configmap/held", since, "--from", file))

	s.kubectl("patch", "configmap/held", "-n", ns, "--type=json", "-p", `[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]`).exits(t, 0)
	requireWriters(t, unknown, s.writersOf(ns, "configmap/held", since))
}

func requireWriters(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writers (-want +got)\n%s", diff)
	}
}
