package snapshot_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestSamplesAreObjectsThatAreMatched(t *testing.T) {
	seen := st.New(st.Serving(st.TypesWithContents()...), st.Listing(st.Namespace("kube-system"), st.Namespace("prod", st.Labeled("env", "prod")), st.Namespace("shop"),
		st.ConfigMap("kube-system/a"), st.ConfigMap("prod/b"), st.ConfigMap("shop/c"), st.ConfigMap("shop/held", st.Labeled("team", "a")), st.ConfigMap("shop/going", st.TerminatingFor(time.Minute, "x/b", "x/c"))))
	rules := func(operations, resource, more string) string {
		return fmt.Sprintf(`{"rules":[{"operations":[%s],"apiGroups":[""],"apiVersions":["v1"],"resources":[%q]}]%s}`, operations, resource, more)
	}
	for name, c := range map[string]struct {
		of   string
		want []string
	}{
		"one object for each operation":       {rules(`"DELETE","UPDATE"`, "configmaps", ""), []string{"DELETE kube-system/a", "UPDATE kube-system/a"}},
		"the name of the namespace":           {rules(`"DELETE"`, "configmaps", `,"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"prod"}}`), []string{"DELETE prod/b"}},
		"labels of the namespace":             {rules(`"DELETE"`, "configmaps", `,"namespaceSelector":{"matchLabels":{"env":"prod"}}`), []string{"DELETE prod/b"}},
		"labels of the object":                {rules(`"DELETE"`, "configmaps", `,"objectSelector":{"matchLabels":{"team":"a"}}`), []string{"DELETE shop/held"}},
		"labels that it lacks":                {rules(`"DELETE"`, "configmaps", `,"objectSelector":{"matchExpressions":[{"key":"team","operator":"Exists"},{"key":"env","operator":"Exists"}]}`), nil},
		"some objects where conditions":       {rules(`"DELETE"`, "configmaps", `,"matchConditions":[{"name":"x"}]`), []string{"DELETE kube-system/a", "DELETE prod/b", "DELETE shop/c"}},
		"no namespace of the API server":      {rules(`"DELETE"`, "namespaces", ""), []string{"DELETE /prod"}},
		"nothing that it matches":             {rules(`"DELETE"`, "secrets", ""), nil},
		"what a policy and its binding match": {rules(`"*"`, "configmaps", "") + `,{"rules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["held"]}]}`, []string{"DELETE shop/held", "UPDATE shop/held"}},
	} {
		t.Run(name, func(t *testing.T) {
			var of []snapshot.AdmissionWebhook
			if err := json.Unmarshal([]byte("["+c.of+"]"), &of); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range seen.Samples([][]snapshot.AdmissionWebhook{of}) {
				got = append(got, w.Operation+" "+w.Object.Namespace+"/"+w.Object.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEndings(t *testing.T) {
	seen := st.New(st.Listing(st.Namespace("shop", st.TerminatingFor(time.Minute)), st.ConfigMap("shop/a"), st.ConfigMap("shop/b", st.TerminatingFor(time.Minute, "x/b", "x/c")), st.ConfigMap("prod/a")))
	var got []string
	for _, w := range seen.Endings((*object.Object).Terminating) {
		got = append(got, w.Operation+" "+w.Object.Namespace+"/"+w.Object.Name+" "+w.Finalizer)
	}
	if want := []string{"DELETE shop/a ", "UPDATE shop/b x/b", "UPDATE shop/b x/c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAnAggregatedAPIIsNotAsked: nobody knows what its server makes of a dry run.
func TestAnAggregatedAPIIsNotAsked(t *testing.T) {
	crd := st.Object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com")
	seen := st.New(st.Serving(append(st.TypesWithContents(),
		snapshot.Type{Group: "example.com", Version: "v1", Resource: "widgets", Kind: "Widget", Namespaced: true},
		snapshot.Type{Group: "apps.example.com", Version: "v1", Resource: "builds", Kind: "Build", Namespaced: true},
		snapshot.Type{Group: "servicecatalog.k8s.io", Version: "v1beta1", Resource: "serviceinstances", Kind: "ServiceInstance", Namespaced: true},
		snapshot.Type{Group: "custom.metrics.k8s.io", Version: "v1", Resource: "pods", Kind: "MetricValue", Namespaced: true},
	)...), st.Listing(crd))
	for kind, want := range map[string]bool{"v1 ConfigMap": true, "example.com/v1 Widget": true, "apps.example.com/v1 Build": false, "custom.metrics.k8s.io/v1 MetricValue": false, "servicecatalog.k8s.io/v1beta1 ServiceInstance": false} {
		i := object.Identity{Namespace: "shop", Name: "a"}
		if _, err := fmt.Sscan(kind, &i.APIVersion, &i.Kind); err != nil {
			t.Fatal(err)
		}
		if got := seen.ServedByKubernetes(snapshot.NewView(seen), i); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}
