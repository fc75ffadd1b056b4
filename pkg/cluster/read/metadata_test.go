package read

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestMarksOfAnotherObjectOfThatNameAreLeftOut(t *testing.T) {
	metadata := meta("worker")
	metadata["managedFields"] = []clustertest.Fields{{
		"manager": "kubectl", "operation": "Apply", "subresource": "status", "time": "2026-11-20T10:50:00Z", "fieldsType": "FieldsV1",
		"fieldsV1": clustertest.Fields{"f:metadata": clustertest.Fields{"f:finalizers": clustertest.Fields{`v:"x/y"`: clustertest.Fields{}}}},
	}}
	metadata["annotations"] = clustertest.Fields{"argocd.argoproj.io/tracking-id": "web:/Pod:ns/worker"}
	cluster, _ := clustertest.Serve(t, map[string]func(*http.Request) any{"/api/v1/namespaces/ns/pods/worker": func(*http.Request) any {
		return clustertest.Fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
	}})
	s := &snapshot.Snapshot{Types: []snapshot.Type{{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true, Preferred: true, Verbs: []string{"get"}}}}
	pod := &object.Object{Identity: worker}
	if got := MarksOf(context.Background(), cluster, s, snapshot.NewView(s), pod); got.Manager != nil || got.Writers.Finalizers != nil {
		t.Errorf("got %v", got)
	}
	pod.UID = "uid-worker"
	got := MarksOf(context.Background(), cluster, s, snapshot.NewView(s), pod)
	want := object.Writers{
		References: map[types.UID][]object.Write{},
		Finalizers: map[string][]object.Write{"x/y": {{Manager: "kubectl", Operation: "Apply", Subresource: "status", Time: time.Date(2026, 11, 20, 10, 50, 0, 0, time.UTC)}}},
	}
	manager := &reason.ManagedBy{Manager: "Argo CD", Kind: "Application", Group: "argoproj.io", Name: "web"}
	if diff := cmp.Diff(Marks{want, manager}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
