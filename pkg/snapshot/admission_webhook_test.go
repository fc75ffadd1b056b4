package snapshot_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestRefusals(t *testing.T) {
	view := snapshot.NewView(st.New(st.Serving(append(st.Workloads(),
		snapshot.Type{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations", Kind: "ValidatingWebhookConfiguration"},
		snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}, snapshot.Type{Version: "v1", Resource: "nodes", Kind: "Node"},
	)...)))
	pod, deployment, node := st.Pod("shop/web").Identity, st.Object("apps/v1", "Deployment", "shop/web").Identity, st.Object("v1", "Node", "n1").Identity
	namespace, own := st.Object("v1", "Namespace", "shop").Identity, st.Object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "policy").Identity
	const all = `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"scope":"*"}]`
	rule := func(operations, groups, versions, resources, more string) string {
		return fmt.Sprintf(`"rules":[{"operations":[%s],"apiGroups":[%s],"apiVersions":[%s],"resources":[%s]%s}]`, operations, groups, versions, resources, more)
	}
	for name, c := range map[string]struct {
		webhook string
		write   snapshot.WriteRequest
		want    string
	}{
		"all":                                    {all, snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "yes"},
		"all, an update":                         {all, snapshot.WriteRequest{Object: deployment, Operation: "UPDATE"}, "yes"},
		"all, but not the types of admission":    {all, snapshot.WriteRequest{Object: own, Operation: "DELETE"}, "no"},
		"another operation":                      {rule(`"UPDATE"`, `""`, `"v1"`, `"pods"`, ""), snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "no"},
		"the operation":                          {rule(`"CREATE","DELETE"`, `""`, `"v1"`, `"pods"`, ""), snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "yes"},
		"another group":                          {rule(`"DELETE"`, `"apps"`, `"v1"`, `"pods"`, ""), snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "no"},
		"another resource":                       {rule(`"DELETE"`, `""`, `"*"`, `"secrets","pods/eviction"`, ""), snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "no"},
		"all resources of a group":               {rule(`"DELETE"`, `"apps"`, `"v1"`, `"*"`, ""), snapshot.WriteRequest{Object: deployment, Operation: "DELETE"}, "yes"},
		"an equivalent version":                  {rule(`"DELETE"`, `"apps"`, `"v1beta1"`, `"deployments"`, ""), snapshot.WriteRequest{Object: deployment, Operation: "DELETE"}, "yes"},
		"another version, and exact":             {rule(`"DELETE"`, `"apps"`, `"v1beta1"`, `"deployments"`, "") + `,"matchPolicy":"Exact"`, snapshot.WriteRequest{Object: deployment, Operation: "DELETE"}, "no"},
		"namespaced objects only":                {rule(`"DELETE"`, `""`, `"v1"`, `"*"`, `,"scope":"Namespaced"`), snapshot.WriteRequest{Object: node, Operation: "DELETE"}, "no"},
		"cluster-scoped objects only":            {rule(`"DELETE"`, `""`, `"v1"`, `"*"`, `,"scope":"Cluster"`), snapshot.WriteRequest{Object: namespace, Operation: "DELETE"}, "yes"},
		"conditions":                             {all + `,"matchConditions":[{"name":"x","expression":"true"}]`, snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "may"},
		"labels of the object":                   {all + `,"objectSelector":{"matchLabels":{"a":"b"}}`, snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "may"},
		"labels of the namespace":                {all + `,"namespaceSelector":{"matchLabels":{"a":"b"}}`, snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "may"},
		"labels of the namespace, a cluster one": {all + `,"namespaceSelector":{"matchLabels":{"a":"b"}}`, snapshot.WriteRequest{Object: node, Operation: "DELETE"}, "yes"},
		"the name of the namespace":              {all + `,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}`, snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "yes"},
		"the name of the namespace itself":       {all + `,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}`, snapshot.WriteRequest{Object: namespace, Operation: "DELETE"}, "yes"},
		"not that namespace":                     {all + `,"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kyverno","shop"]}]}`, snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "no"},
		"not that namespace, and a label":        {all + `,"namespaceSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["shop"]}]}`, snapshot.WriteRequest{Object: pod, Operation: "DELETE"}, "no"},
		"an unknown type":                        {all, snapshot.WriteRequest{Object: object.Identity{APIVersion: "x/v1", Kind: "Y", Name: "z"}, Operation: "DELETE"}, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			var w snapshot.AdmissionWebhook
			if err := json.Unmarshal([]byte("{"+c.webhook+"}"), &w); err != nil {
				t.Fatal(err)
			}
			got := "no"
			if found := view.Refusals([]snapshot.AdmissionWebhook{w}, []snapshot.WriteRequest{c.write}); len(found) > 0 && found[0].Uncertain {
				got = "may"
			} else if len(found) > 0 {
				got = "yes"
			}
			if got != c.want {
				t.Errorf("refused: %s, want %s", got, c.want)
			}
		})
	}
}

func TestRefusalsCountsObjects(t *testing.T) {
	view := snapshot.NewView(st.New(st.Serving(st.Workloads()...)))
	var first, second snapshot.AdmissionWebhook
	for _, w := range []*snapshot.AdmissionWebhook{&first, &second} {
		if err := json.Unmarshal([]byte(`{"rules":[{"operations":["DELETE","UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}`), w); err != nil {
			t.Fatal(err)
		}
		w.Refuses = reason.WebhookRefuses{Configuration: object.Identity{Kind: "ValidatingWebhookConfiguration", Name: "policy"}, Service: "ops/policy", State: reason.BackendNoEndpoints}
	}
	a, b := st.Pod("shop/a").Identity, st.Pod("shop/b").Identity
	found := view.Refusals([]snapshot.AdmissionWebhook{first, second}, []snapshot.WriteRequest{{Object: a, Operation: "DELETE"}, {Object: b, Operation: "DELETE"}, {Object: b, Operation: "UPDATE"}})
	var got []string
	for _, r := range found {
		got = append(got, r.Message())
	}
	want := []string{
		"ValidatingWebhookConfiguration/policy refuses the deletion of Pod/a and 1 more: its Service ops/policy has no ready endpoint",
		"ValidatingWebhookConfiguration/policy refuses the update of Pod/b: its Service ops/policy has no ready endpoint",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
