package health

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
)

func TestWebhooks(t *testing.T) {
	const group = "admissionregistration.k8s.io/v1"
	webhook := func(service, policy string, operations ...string) values {
		out := values{"rules": []values{{"operations": operations, "apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "resources": []string{"*"}}}}
		if policy != "" {
			out["failurePolicy"] = policy
		}
		out["clientConfig"] = values{"url": "https://127.0.0.1:1"}
		if service != "" {
			out["clientConfig"] = values{"service": values{"namespace": "ops", "name": service}}
		}
		return out
	}
	replies := answers{
		"/apis/" + group + "/validatingwebhookconfigurations": clustertest.Reply(listing(group, "ValidatingWebhookConfiguration", whole(group, "ValidatingWebhookConfiguration", "", "policy", values{"webhooks": []values{
			webhook("missing", "Fail", "DELETE"), webhook("missing", "", "*"), webhook("missing", "Ignore", "DELETE"), webhook("missing", "Fail", "CREATE", "CONNECT"),
			webhook("", "Fail", "DELETE"), webhook("ready", "Fail", "DELETE"), webhook("forbidden", "Fail", "DELETE"),
		}}))),
		"/apis/" + group + "/mutatingwebhookconfigurations": clustertest.Reply(listing(group, "MutatingWebhookConfiguration",
			whole(group, "MutatingWebhookConfiguration", "", "defaults", values{"webhooks": []values{webhook("idle", "Fail", "CREATE", "UPDATE")}}))),
		"/api/v1/namespaces/ops/services/missing":   clustertest.Reply(clustertest.Status(404, "NotFound", "not found", values{"name": "missing", "kind": "services"})),
		"/api/v1/namespaces/ops/services/ready":     clustertest.Reply(whole("v1", "Service", "ops", "ready", nil)),
		"/api/v1/namespaces/ops/services/idle":      clustertest.Reply(whole("v1", "Service", "ops", "idle", nil)),
		"/api/v1/namespaces/ops/services/forbidden": clustertest.Reply(clustertest.Refuse(403, "Forbidden")),
		"/apis/discovery.k8s.io/v1/namespaces/ops/endpointslices": func(r *http.Request) any {
			ready := r.URL.Query().Get("labelSelector") == "kubernetes.io/service-name=ready"
			return listing("discovery.k8s.io/v1", "EndpointSlice", whole("discovery.k8s.io/v1", "EndpointSlice", "ops", "x", values{"endpoints": []values{{"conditions": values{"ready": ready}}}}))
		},
	}
	cluster, _ := clustertest.Serve(t, replies)
	configurations, err := webhookConfigurations(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	found := withoutBackend(t.Context(), cluster, configurations)
	var got []string
	for _, w := range found {
		got = append(got, fmt.Sprintf("%s %s", w.Refuses.Message(), w.Rules[0].Operations))
	}
	want := []string{
		"ValidatingWebhookConfiguration/policy refuses deletions: its Service ops/missing does not exist [DELETE]",
		"ValidatingWebhookConfiguration/policy refuses deletions: its Service ops/missing does not exist [*]",
		"MutatingWebhookConfiguration/defaults refuses deletions: its Service ops/idle has no ready endpoint [CREATE UPDATE]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if sentence, command := found[2].Refuses.Remedy(); sentence != "restore Service ops/idle, or delete the MutatingWebhookConfiguration if nothing needs it" || !cmp.Equal(command, []string{"kubectl", "delete", "mutatingwebhookconfiguration", "defaults"}) {
		t.Errorf("%s: %q", sentence, command)
	}
}
