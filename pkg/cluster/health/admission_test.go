package health

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// TestAdmissionAsksOnlyByDryRun: what is stored must not change, and a webhook with side effects is not asked.
func TestAdmissionAsksOnlyByDryRun(t *testing.T) {
	const group = "admissionregistration.k8s.io/v1"
	denied := func(message string) any {
		return clustertest.Status(http.StatusBadRequest, "BadRequest", message, nil)
	}
	hook := func(kind, configuration, name string) values {
		return whole(group, kind, "", configuration, values{"webhooks": []values{{
			"name": name, "rules": []values{{"operations": []string{"*"}, "apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"pods"}}},
			"clientConfig": values{"url": "https://127.0.0.1:1"},
		}}})
	}
	for name, c := range map[string]struct {
		deletion, update any
		want             []string
		unknown          string
	}{
		"a denial": {
			denied(`admission webhook "g.example.com" denied the request: frozen`), whole("v1", "Pod", "shop", "a", nil),
			[]string{`ValidatingWebhookConfiguration/guard refuses the deletion of Pod/a (asked as you; it may allow controllers): admission webhook "g.example.com" denied the request: frozen`},
			"",
		},
		"a failure, of the webhook of that name which is called first": {
			clustertest.Status(http.StatusInternalServerError, "InternalError", `Internal error occurred: failed calling webhook "g.example.com": EOF`, nil), whole("v1", "Pod", "shop", "a", nil),
			[]string{`MutatingWebhookConfiguration/defaults refuses the deletion of Pod/a: failed calling webhook "g.example.com": EOF`},
			"",
		},
		"side effects": {
			denied(`admission webhook "g.example.com" does not support dry run`), whole("v1", "Pod", "shop", "a", nil),
			nil, "the API server sends no dry run to webhook g.example.com, which declares side effects",
		},
		"an object that is gone": {
			clustertest.Status(http.StatusNotFound, "NotFound", `pods "a" not found`, values{"name": "a", "kind": "pods"}), whole("v1", "Pod", "shop", "a", nil), nil, "",
		},
		"a missing right": {
			whole("v1", "Pod", "shop", "a", nil), clustertest.Status(http.StatusForbidden, "Forbidden", `pods "a" is forbidden: User "x" cannot patch resource "pods"`, nil),
			nil, `patch Pod/a in namespace shop: pods "a" is forbidden: User "x" cannot patch resource "pods"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, server := clustertest.Serve(t, answers{
				"/apis/" + group + "/validatingwebhookconfigurations": clustertest.Reply(listing(group, "ValidatingWebhookConfiguration", hook("ValidatingWebhookConfiguration", "guard", "g.example.com"))),
				"/apis/" + group + "/mutatingwebhookconfigurations":   clustertest.Reply(listing(group, "MutatingWebhookConfiguration", hook("MutatingWebhookConfiguration", "defaults", "g.example.com"))),
				"/api/v1/namespaces/shop/pods/a": func(r *http.Request) any {
					if r.Method == http.MethodDelete {
						return c.deletion
					}
					return c.update
				},
			})
			pod := st.Pod("shop/a", st.UID("uid-a"))
			pod.ResourceVersion = "5"
			seen := st.New(st.Serving(snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Verbs: []string{"delete", "get", "list", "patch", "watch"}, Preferred: true}), st.Listing(pod))
			found := Admission(t.Context(), cluster, seen)
			var got []string
			for _, r := range found.Refused {
				got = append(got, r.Message())
			}
			if diff := cmp.Diff(c.want, got); diff != "" || found.Unknown != c.unknown {
				t.Errorf("unknown: %q (-want +got)\n%s", found.Unknown, diff)
			}
			for _, r := range server.Requests() {
				if r.Write() {
					t.Errorf("%s %s is not a dry run", r.Method, r.Path)
				}
			}
		})
	}
}
