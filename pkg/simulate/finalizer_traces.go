package simulate

import (
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// FinalizerTraces finds what a scan shows of the controllers behind finalizers. It is safe for
// concurrent use.
type FinalizerTraces struct {
	graph *graph.Graph

	mu     sync.Mutex
	traces *snapshot.Traces                       // nil until first used
	found  map[[2]string]*reason.ControllerTraces // before, by domain and API group
}

// NewFinalizerTraces returns the traces in the scan of a graph.
func NewFinalizerTraces(g *graph.Graph) *FinalizerTraces {
	return &FinalizerTraces{graph: g, found: map[[2]string]*reason.ControllerTraces{}}
}

// Of returns what the scan shows of the controller behind a finalizer of an object. It returns nil if the
// controller is one of Kubernetes, which needs none of what is looked for, and if the name of the
// finalizer has no domain.
func (t *FinalizerTraces) Of(finalizer string, on object.Identity) *reason.ControllerTraces {
	domain := controllerDomain(finalizer)
	if domain == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.traces == nil {
		t.traces = snapshot.NewTraces(t.graph.View(), t.graph.Snapshot().Objects)
	}
	key := [2]string{domain, on.GroupVersionKind().Group}
	if t.found[key] == nil {
		found := t.traces.Of(domain, key[1])
		t.found[key] = &found
	}
	return t.found[key]
}

// All returns the traces of several finalizers of an object, once for each domain.
func (t *FinalizerTraces) All(finalizers []string, on object.Identity) []reason.ControllerTraces {
	var out []reason.ControllerTraces
	known := map[string]bool{}
	for _, f := range finalizers {
		if found := t.Of(f, on); found != nil && !known[found.Domain] {
			known[found.Domain] = true
			out = append(out, *found)
		}
	}
	return out
}

// controllerDomain returns the domain of the controller behind a finalizer, or an empty string.
func controllerDomain(finalizer string) string {
	domain := domainOf(finalizer)
	if ofKubernetes(domain) || domain == "kopf.zalando.org" {
		return ""
	}
	for _, d := range finalizerDomains {
		if within(domain, d.domain) {
			domain = d.domain // at the end, that of the whole project
		}
	}
	return domain
}
