package simulate_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestFinalizerTracesLookForTheDomainOfTheController(t *testing.T) {
	traces := simulate.NewFinalizerTraces(graph.New(st.New()))
	for finalizer, domain := range map[string]string{
		"example.com/hold":                           "example.com",
		"hold.finalizers.example.com":                "hold.finalizers.example.com",
		"resources-finalizer.argocd.argoproj.io":     "argocd.argoproj.io",
		"service.k8s.aws/resources":                  "k8s.aws",
		"foregroundDeletion":                         "",
		"orphan":                                     "",
		"hold":                                       "",
		"external-attacher/csi":                      "",
		"kubernetes.io/pvc-protection":               "",
		"batch.kubernetes.io/job-tracking":           "",
		"customresourcecleanup.apiextensions.k8s.io": "",
		"cluster.x-k8s.io/machine":                   "cluster.x-k8s.io",
	} {
		got := ""
		if found := traces.Of(finalizer, object.Identity{}); found != nil {
			got = found.Domain
		}
		if got != domain {
			t.Errorf("%s: got %q, want %q", finalizer, got, domain)
		}
	}
}
