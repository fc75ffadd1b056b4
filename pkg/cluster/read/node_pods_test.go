package read

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestMarkPodsOf(t *testing.T) {
	seen := st.New(st.Serving(st.Workloads()...), st.Listing(
		st.Pod("a/p", st.UID("1")), st.Pod("b/p", st.UID("2")), st.Pod("b/q", st.UID("3")),
	))
	meta := func(namespace, uid string) clustertest.Fields {
		return clustertest.Fields{"metadata": clustertest.Fields{"name": "p", "namespace": namespace, "uid": uid, "resourceVersion": "5"}}
	}
	c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1/pods": func(r *http.Request) any {
			list := clustertest.Fields{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": clustertest.Fields{"resourceVersion": "10"}}
			switch r.URL.Query().Get("fieldSelector") {
			case "spec.nodeName=n1":
				list["items"] = []clustertest.Fields{meta("a", "1"), meta("b", "2")}
			case "spec.nodeName=n2":
				list["items"] = []clustertest.Fields{}
			case "spec.nodeName=n4":
				return clustertest.Refuse(http.StatusBadRequest, "BadRequest")
			default:
				return clustertest.Refuse(http.StatusForbidden, "Forbidden")
			}
			return list
		},
	})
	marked, err := MarkPodsOf(t.Context(), c, seen, []string{"n1", "n2"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range marked.Objects {
		if o.Node != nil {
			got[string(o.UID)] = o.Node.Name
		}
	}
	if diff := cmp.Diff(map[string]string{"1": "n1", "2": "n1"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(marked.Gaps) > 0 || seen.Objects[0].Node != nil {
		t.Errorf("gaps %v, the scan has %+v", marked.Gaps, seen.Objects[0])
	}
	unread, err := MarkPodsOf(t.Context(), c, seen, []string{"n3", "n3", "n4"})
	if err != nil || len(unread.Gaps) != 2 || unread.Gaps[0].Resource != "pods" || unread.Gaps[0].Reason != snapshot.Forbidden || unread.Gaps[1].Reason == snapshot.Forbidden {
		t.Errorf("%v, %v", unread.Gaps, err)
	}
}
