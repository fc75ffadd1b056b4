package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Refusals returns what these webhooks make the API server refuse about the selected objects: their
// deletion or, for an object that is already terminating, the removal of its finalizers. The
// contents of a selected Namespace count as selected.
func Refusals(g *graph.Graph, webhooks []snapshot.AdmissionWebhook, selected func(*object.Object) bool) []reason.WebhookRefuses {
	var writes []snapshot.Write
	going := map[string]bool{} // namespaces
	for _, o := range g.Snapshot().Objects {
		going[o.Name] = going[o.Name] || o.IsNamespace() && selected(o)
	}
	for _, o := range g.Snapshot().Objects {
		switch {
		case !going[o.Namespace] && !selected(o):
		case !o.Terminating():
			writes = append(writes, snapshot.Write{Object: o.Identity, Operation: "DELETE"})
		case len(o.Finalizers) > 0:
			writes = append(writes, snapshot.Write{Object: o.Identity, Operation: "UPDATE"})
		}
	}
	return g.View().Refusals(webhooks, writes)
}
