package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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
