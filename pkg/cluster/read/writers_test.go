package read

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestWritersOfAnotherObjectOfThatNameAreAnError(t *testing.T) {
	metadata := meta("worker")
	metadata["managedFields"] = []clustertest.Fields{{
		"manager": "kubectl", "operation": "Apply", "subresource": "status", "time": "2026-11-20T10:50:00Z", "fieldsType": "FieldsV1",
		"fieldsV1": clustertest.Fields{"f:metadata": clustertest.Fields{"f:finalizers": clustertest.Fields{`v:"x/y"`: clustertest.Fields{}}}},
	}}
	cluster, _ := clustertest.Serve(t, map[string]func(*http.Request) any{"/api/v1/namespaces/ns/pods/worker": func(*http.Request) any {
		return clustertest.Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
	}})
	pods, id := snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}, worker
	if _, err := WritersOf(context.Background(), cluster, pods, id); err == nil || !strings.Contains(err.Error(), "it has UID uid-worker now, and had u") {
		t.Errorf("got %v", err)
	}
	id.UID = "uid-worker"
	got, err := WritersOf(context.Background(), cluster, pods, id)
	want := object.Writers{
		References: map[types.UID][]object.Write{},
		Finalizers: map[string][]object.Write{"x/y": {{Manager: "kubectl", Operation: "Apply", Subresource: "status", Time: time.Date(2026, 11, 20, 10, 50, 0, 0, time.UTC)}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
