package health

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// What a dry run shows is the answer to who asks. It is the collector's, too, only if what refuses does not know the user.
func TestGuardsAnswerForWhoAsks(t *testing.T) {
	const group = "admissionregistration.k8s.io/v1"
	const webhookDenies = `admission webhook "g.example.com" denied the request: frozen`
	const policyDenies = `pods "a" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'all' denied request: frozen`
	rules := []values{{"operations": []string{"DELETE"}, "apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"pods"}}}
	for name, c := range map[string]struct {
		condition, expression string // of the webhook, and of the policy
		code                  int
		message               string // the answer; empty: accepted
		own                   bool
		as                    string
		want                  string // the reason; empty: accepted for certain
		refused               bool
	}{
		"an acceptance": {"", "true", 0, "", false, "", "", false},
		"an acceptance by a policy that looks at the user": {
			"", "request.userInfo.username != 'x'", 0, "", false, "",
			"may stay as it is: ValidatingAdmissionPolicy/limit looks at the user, and allows its deletion only for you for sure", false,
		},
		"an acceptance where a condition looks at the user": {
			"request.userInfo.username != 'x'", "true", 0, "", false, "",
			"may stay as it is: ValidatingWebhookConfiguration/guard (webhook g.example.com) looks at the user, and allows its deletion only for you for sure", false,
		},
		"a refusal by policy":                  {"", "false", 422, policyDenies, false, "", "stays as long as ValidatingAdmissionPolicy/limit refuses its deletion: frozen", true},
		"a refusal by a policy of the user":    {"", "request.userInfo.username == 'x'", 422, policyDenies, false, "", "may stay as it is: ValidatingAdmissionPolicy/limit refuses its deletion for you, so perhaps for the garbage collector: frozen", true},
		"the same of what who asks will write": {"", "request.userInfo.username == 'x'", 422, policyDenies, true, "", "stays as long as ValidatingAdmissionPolicy/limit refuses its deletion: frozen", true},
		"the same, asked as the collector":     {"", "request.userInfo.username == 'x'", 422, policyDenies, false, collector, "stays as long as ValidatingAdmissionPolicy/limit refuses its deletion: frozen", true},
		"a refusal by webhook": {
			"", "true", 400, webhookDenies, false, "",
			"may stay as it is: ValidatingWebhookConfiguration/guard (webhook g.example.com) refuses its deletion for you, so perhaps for the garbage collector: frozen", true,
		},
		"a webhook that fails, whoever asks": {
			"", "true", 500, `Internal error occurred: failed calling webhook "g.example.com": EOF`, false, "",
			`stays as long as ValidatingWebhookConfiguration/guard (webhook g.example.com) refuses its deletion: failed calling webhook "g.example.com": EOF`, true,
		},
		"a webhook with side effects": {
			"", "true", 400, `admission webhook "g.example.com" does not support dry run`, false, "",
			"may stay as it is: ValidatingWebhookConfiguration/guard (webhook g.example.com) may refuse its deletion, and cannot be asked", false,
		},
		"a right that who asks lacks": {
			"", "true", 403, `pods "a" is forbidden: User "x" cannot delete resource "pods"`, false, "",
			`may stay as it is: it is unknown whether admission allows its deletion: delete Pod/a in namespace shop: pods "a" is forbidden: User "x" cannot delete resource "pods"`, false,
		},
		"a right that who asks lacks for a write of its own": {"", "true", 403, `pods "a" is forbidden: User "x" cannot delete resource "pods"`, true, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := []values{}
			if c.condition != "" {
				conditions = append(conditions, values{"name": "c", "expression": c.condition})
			}
			var as []string
			cluster, server := clustertest.Serve(t, answers{
				"/apis/" + group + "/validatingwebhookconfigurations": clustertest.Reply(listing(group, "ValidatingWebhookConfiguration", whole(group, "ValidatingWebhookConfiguration", "", "guard", values{"webhooks": []values{{
					"name": "g.example.com", "rules": rules, "matchConditions": conditions, "clientConfig": values{"url": "https://127.0.0.1:1"},
				}}}))),
				"/apis/" + group + "/mutatingwebhookconfigurations": clustertest.Reply(listing(group, "MutatingWebhookConfiguration")),
				"/apis/" + group + "/validatingadmissionpolicies": clustertest.Reply(listing(group, "ValidatingAdmissionPolicy", whole(group, "ValidatingAdmissionPolicy", "", "limit", values{"spec": values{
					"matchConstraints": values{"resourceRules": rules}, "validations": []values{{"expression": c.expression}},
				}}))),
				"/apis/" + group + "/validatingadmissionpolicybindings": clustertest.Reply(listing(group, "ValidatingAdmissionPolicyBinding", whole(group, "ValidatingAdmissionPolicyBinding", "", "all", values{"spec": values{"policyName": "limit"}}))),
				"/api/v1/namespaces/shop/pods/a": func(r *http.Request) any {
					if as = append(as, r.Header.Get("Impersonate-User")); c.message == "" {
						return whole("v1", "Pod", "shop", "a", nil)
					}
					return clustertest.Status(c.code, "", c.message, nil)
				},
			})
			pod := st.Pod("shop/a", st.UID("uid-a"))
			pod.ResourceVersion = "5"
			served := func(resource, kind string) snapshot.Type {
				return snapshot.Type{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource, Kind: kind, Verbs: []string{"delete", "get", "list", "patch", "watch"}, Preferred: true}
			}
			seen := st.New(st.Serving(
				snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Verbs: []string{"delete", "get", "list", "patch", "watch"}, Preferred: true},
				served("validatingadmissionpolicies", "ValidatingAdmissionPolicy"), served("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
			), st.Listing(pod))
			seen.Listed = nil // a scan that lists no policies shows nothing of them
			got := NewGuards(t.Context(), cluster, seen).Ask(t.Context(), []PlannedWrite{{Object: seen.Objects[0], Operation: "DELETE", Own: c.own, As: c.as}}, nil)
			answer := got[snapshot.Write{UID: "uid-a", Operation: "DELETE"}]
			said := ""
			if answer != (reason.AdmissionAnswer{}) && (answer.Refused || !answer.Certain()) {
				said = answer.Because.Message()
			}
			if diff := cmp.Diff(c.want, said); diff != "" || answer.Refused != c.refused {
				t.Errorf("refused: %v (-want +got)\n%s", answer.Refused, diff)
			}
			for _, r := range server.Requests() {
				if r.Write() {
					t.Errorf("%s %s is not a dry run", r.Method, r.Path)
				}
			}
			if len(as) == 0 || as[0] != c.as {
				t.Errorf("asked as %q, want %q", as, c.as)
			}
		})
	}
}

const collector = "system:serviceaccount:kube-system:generic-garbage-collector"

// An aggregated API server may carry out what is sent as a dry run.
func TestGuardsAskNoAggregatedAPI(t *testing.T) {
	const group = "admissionregistration.k8s.io/v1"
	every := values{"operations": []string{"*"}, "apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "resources": []string{"*/*"}}
	cluster, server := clustertest.Serve(t, answers{
		"/apis/" + group + "/validatingwebhookconfigurations": clustertest.Reply(listing(group, "ValidatingWebhookConfiguration", whole(group, "ValidatingWebhookConfiguration", "", "guard", values{"webhooks": []values{{
			"name": "g.example.com", "rules": []values{every}, "clientConfig": values{"url": "https://127.0.0.1:1"},
		}}}))),
		"/apis/" + group + "/mutatingwebhookconfigurations": clustertest.Reply(listing(group, "MutatingWebhookConfiguration")),
	})
	zone := st.Object("aggregated.example.com/v1", "Zone", "shop/a", st.UID("uid-a"))
	zone.ResourceVersion = "5"
	seen := st.New(st.Serving(snapshot.Type{
		Group: "aggregated.example.com", Version: "v1", Resource: "zones", Kind: "Zone", Namespaced: true, Verbs: []string{"delete", "get", "list", "patch", "watch"}, Preferred: true,
	}), st.Listing(zone))
	got := NewGuards(t.Context(), cluster, seen).Ask(t.Context(), []PlannedWrite{{Object: seen.Objects[0], Operation: "DELETE"}}, nil)
	if answer := got[snapshot.Write{UID: "uid-a", Operation: "DELETE"}]; answer.Refused || answer.Because.Doubt != reason.NotAnswered {
		t.Errorf("the answer is %+v", answer)
	}
	for _, r := range server.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s was sent", r.Method, r.Path)
		}
	}
}
