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
	graph  *graph.Graph
	traces func() *snapshot.Traces
	found  sync.Map // before, by domain, apiVersion and kind, of objects without a Status
}

// NewFinalizerTraces returns the traces in the scan of a graph.
func NewFinalizerTraces(g *graph.Graph) *FinalizerTraces {
	return &FinalizerTraces{graph: g, traces: sync.OnceValue(func() *snapshot.Traces { return snapshot.NewTraces(g.View(), g.Snapshot()) })}
}

// Of returns what the scan shows of the controller behind a finalizer of an object. It returns nil if the
// controller is one of Kubernetes, which needs none of what is looked for, and if the name of the
// finalizer has no domain.
func (t *FinalizerTraces) Of(finalizer string, on object.Identity) *reason.ControllerTraces {
	domain := controllerDomain(finalizer)
	if domain == "" {
		return nil
	}
	if of := t.graph.Object(t.graph.Find(on.UID)); of != nil && of.Status != nil {
		return new(t.traces().Of(domain, of))
	}
	key := [3]string{domain, on.APIVersion, on.Kind}
	found, known := t.found.Load(key)
	if !known {
		found = new(t.traces().Of(domain, &object.Object{Identity: on}))
		t.found.Store(key, found)
	}
	return found.(*reason.ControllerTraces)
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
