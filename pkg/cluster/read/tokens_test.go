package read

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestMarkTokens(t *testing.T) {
	seen := st.New(st.Listing(st.Secret("a/token", st.UID("1")), st.Secret("a/tls", st.UID("2")), st.Secret("b/token", st.UID("3"))))
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/namespaces/a/secrets": func(r *http.Request) any {
			if r.URL.Query().Get("fieldSelector") != "type=kubernetes.io/service-account-token" {
				return clustertest.Refuse(http.StatusForbidden, "Forbidden")
			}
			annotations := clustertest.Fields{"kubernetes.io/service-account.name": "ci", "kubernetes.io/service-account.uid": "9"}
			return clustertest.Fields{
				"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": clustertest.Fields{"resourceVersion": "10"},
				"items": []clustertest.Fields{{"metadata": clustertest.Fields{"name": "token", "namespace": "a", "uid": "1", "resourceVersion": "5", "annotations": annotations}}},
			}
		},
		"/api/v1/namespaces/b/secrets": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
	})
	marked, err := MarkTokens(t.Context(), c, seen, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]object.Identity{}
	for _, o := range marked.Objects {
		if o.Lifecycle != nil {
			got[string(o.UID)] = o.Lifecycle.With
		}
	}
	account := object.Identity{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "a", Name: "ci", UID: "9"}
	if diff := cmp.Diff(map[string]object.Identity{"1": account}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(marked.Gaps) != 1 || marked.Gaps[0].String() != "secrets in namespace b" || marked.Gaps[0].Reason != snapshot.Forbidden {
		t.Errorf("gaps %v", marked.Gaps)
	}
	if seen.Objects[0].Lifecycle != nil || len(seen.Gaps) > 0 {
		t.Error("the scan itself has changed")
	}
}
