package scan

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// space returns a Namespace, which is terminating if it has a time of deletion.
func space(name, uid, deleted string, status clustertest.Fields) clustertest.Fields {
	metadata := clustertest.Fields{"name": name, "uid": uid, "resourceVersion": "5"}
	if deleted != "" {
		metadata["deletionTimestamp"] = deleted
	}
	return clustertest.Fields{"kind": "Namespace", "apiVersion": "v1", "metadata": metadata, "spec": clustertest.Fields{"finalizers": []string{"kubernetes"}}, "status": status}
}

// item returns what a metadata list shows of an object.
func item(whole clustertest.Fields) clustertest.Fields {
	return clustertest.Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": whole["metadata"]}
}

func TestScanReadsStatusOfTerminatingNamespacesOnly(t *testing.T) {
	const deleted = "2026-11-20T05:00:00Z"
	fails := clustertest.Fields{"conditions": []clustertest.Fields{{"type": object.ContentFailure, "status": "True", "message": "denied"}}}
	stuck, silent := space("stuck", "1", deleted, fails), space("silent", "2", deleted, nil)
	c, f := clustertest.Serve(t, map[string]func(*http.Request) any{
		"/api/v1": clustertest.Reply(clustertest.Fields{"kind": "APIResourceList", "groupVersion": "v1", "resources": []clustertest.Fields{
			{"name": "namespaces", "kind": "Namespace", "singularName": "namespace", "verbs": []string{"delete", "get", "list", "watch"}},
		}}),
		"/api/v1/namespaces": clustertest.Reply(clustertest.List(
			item(stuck), item(silent), item(space("forbidden", "3", deleted, nil)), item(space("replaced", "4", deleted, nil)),
			item(space("malformed", "5", deleted, nil)), item(space("alive", "6", "", nil)),
		)),
		"/api/v1/namespaces/stuck":     clustertest.Reply(stuck),
		"/api/v1/namespaces/silent":    clustertest.Reply(silent),
		"/api/v1/namespaces/forbidden": clustertest.Reply(clustertest.Refuse(http.StatusForbidden, "Forbidden")),
		"/api/v1/namespaces/replaced":  clustertest.Reply(space("replaced", "7", "", fails)),
		"/api/v1/namespaces/malformed": clustertest.Reply(space("malformed", "5", deleted, clustertest.Fields{"conditions": "none"})),
	})
	c.Config.ChunkSize = 0
	s := take(t, c)
	got := map[string]*object.NamespaceStatus{}
	for _, o := range s.Objects {
		got[o.Name] = o.NamespaceStatus
	}
	want := map[string]*object.NamespaceStatus{
		"stuck":     {Conditions: []object.NamespaceCondition{{Type: object.ContentFailure, True: true, Message: "denied"}}},
		"silent":    {Conditions: []object.NamespaceCondition{}},
		"forbidden": nil, "replaced": nil, "malformed": nil, "alive": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !s.Complete() {
		t.Errorf("gaps %v", s.Gaps)
	}
	if n := f.Count("GET /api/v1/namespaces/stuck"); n != 1 {
		t.Errorf("the namespace was requested %d times", n)
	}
}
