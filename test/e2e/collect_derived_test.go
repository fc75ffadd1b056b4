package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// proxyCalling returns a proxy that calls do just before the first matching request is answered.
func (s *scene) proxyCalling(about func(*http.Request) bool, do func()) *recordingProxy {
	s.Helper()
	return s.throughProxy(func(through http.Handler) []fault { return []fault{{firstOnly(about), beforeResponse(through, do)}} }).allowWrites()
}

// These scenarios of the collector's rules need a change between the scan and the write.
func TestCollectDecidesAgainAfterChange(t *testing.T) {
	t.Parallel()
	orphan := func(s *scene, ns string) object { return s.create(widget(ns, "subject", ownedBy(missingOwner()))) }
	for name, c := range map[string]struct {
		make    func(s *scene, ns string) object
		before  func(*http.Request) bool
		do      func(s *scene, o object)
		status  string
		message string
	}{
		"L27 a custom resource loses its last reference": {
			make: func(s *scene, ns string) object {
				leaving := s.create(configMap(ns, "leaving"))
				o := s.create(widget(ns, "subject", ownedBy(referenceTo(leaving))))
				s.remove(leaving, metav1.DeletePropagationOrphan)
				return o
			},
			before: writing(single("widgets", "subject")), do: func(*scene, object) {}, status: "done",
		},
		"L27 after a conflict the decision is the same": {
			make: func(s *scene, ns string) object {
				return s.create(widget(ns, "subject", ownedBy(referenceTo(s.create(secret(ns, "owner"))), missingOwner())))
			},
			before: writing(single("widgets", "subject")), status: "done",
			do: func(s *scene, o object) {
				s.patch(o, `{"metadata":{"ownerReferences":[`+referenceJSON(missingOwner())+`,`+referenceJSON(o.GetOwnerReferences()[0])+`]}}`)
			},
		},
		"L27 after a conflict the decision is different": {
			make: func(s *scene, ns string) object {
				return s.create(widget(ns, "subject", ownedBy(referenceTo(s.create(secret(ns, "owner"))), missingOwner())))
			},
			before: writing(single("widgets", "subject")), status: "skipped", message: "nothing to do: it is already in this state",
			do: func(s *scene, o object) { s.setOwners(o, o.GetOwnerReferences()[0]) },
		},
		"L28 the object was replaced": {
			make: orphan, before: deleting(single("widgets", "subject")), status: "skipped", message: "already gone",
			do: func(s *scene, o object) { s.setOwners(s.replace(o), missingOwner()) },
		},
		"L28 the object was replaced before the backup": {
			make: orphan, before: reading(func(r *http.Request) bool {
				return single("widgets", "subject")(r) && r.Header.Get("Accept") == "application/json"
			}), status: "skipped", message: "already gone",
			do: func(s *scene, o object) { s.setOwners(s.replace(o), missingOwner()) },
		},
		"L29 it got another owner that exists": {
			make: orphan, before: deleting(single("widgets", "subject")), status: "skipped", message: "its owner Secret/late exists",
			do: func(s *scene, o object) { s.setOwners(o, referenceTo(s.create(secret(o.GetNamespace(), "late")))) },
		},
		"L29 it got another owner that does not exist": {
			make: orphan, before: deleting(single("widgets", "subject")), status: "done",
			do: func(s *scene, o object) { s.setOwners(o, reference("v1", "ConfigMap", "gone", "gone")) },
		},
		"L29 it got an owner that cannot be judged": {
			make: orphan, before: deleting(single("widgets", "subject")), status: "skipped", message: "cannot be resolved",
			do: func(s *scene, o object) {
				s.setOwners(o, missingOwner(), reference("example.com/v1", "Nothing", "x", "x"))
			},
		},
		"L29 an unrelated change": {
			make: orphan, before: deleting(single("widgets", "subject")), status: "done",
			do: func(s *scene, o object) { s.patch(o, `{"metadata":{"labels":{"a":"b"}}}`) },
		},
		"a waiting owner became solid before its dependent was deleted": {
			make: func(s *scene, ns string) object {
				owner := s.create(configMap(ns, "waiting", heldBy("example.com/hold")))
				o := s.create(widget(ns, "subject", ownedBy(referenceTo(owner))))
				s.remove(owner, metav1.DeletePropagationForeground)
				return o
			},
			before: reading(single("configmaps", "waiting")), status: "skipped", message: "its owner ConfigMap/waiting exists",
			do: func(s *scene, o object) {
				s.patch(configMap(o.GetNamespace(), "waiting"), `{"metadata":{"finalizers":["example.com/hold"]}}`)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.defineTestKinds()
			ns := s.namespace("derived")
			o := c.make(s, ns)
			f := s.proxyCalling(c.before, func() { c.do(s, o) })
			r := f.gc("collect", "-n", ns, "--yes", "-o", "json")
			got := decode[collected](t, r)
			if got.Summary.Failed > 0 {
				t.Errorf("%+v: %s", got.Summary, r.Stdout)
			}
			for _, step := range got.Steps {
				if step.Object.UID == string(o.GetUID()) && (step.Status != c.status || !strings.Contains(step.Result.Message, c.message)) {
					t.Errorf("%s is %s: %q, want %s: %q", step.Action, step.Status, step.Result.Message, c.status, c.message)
				}
			}
			if len(got.Steps) == 0 {
				t.Error("nothing was planned")
			}
			live, err := s.client(o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
			switch deleted := got.Steps[0].Action == "delete" && c.status == "done"; {
			case deleted != (err != nil):
				t.Errorf("deleted: %t, %v", deleted, err)
			case c.status == "done" && !deleted:
				for _, r := range live.GetOwnerReferences() {
					if r.Kind == "ConfigMap" || r.Name == "gone" {
						t.Errorf("it keeps %+v", r)
					}
				}
			}
		})
	}
}

// referenceJSON returns a reference as JSON.
func referenceJSON(r metav1.OwnerReference) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}`, r.APIVersion, r.Kind, r.Name, r.UID)
}
