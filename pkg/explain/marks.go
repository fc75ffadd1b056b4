package explain

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// AddManager adds to an answer who may recreate the object: nobody while its namespace or
// CustomResourceDefinition is being deleted.
func (e *Explainer) AddManager(a *Answer, n graph.Node, by *reason.ManagedBy) {
	if by == nil || e.OnlyDeletions || e.graph.ContainerOf(e.graph.Object(n)) != nil {
		return
	}
	a.ManagedBy = reason.Of(*by)
	if command := by.Uninstall(); command != nil {
		a.suggest("uninstall Helm release "+by.Name+", with everything in it", command...)
	}
}

// AddWriters adds to an answer who wrote the object's references and finalizers. The API server
// does not distinguish references that share a UID, so their writers stay unknown.
func (a *Answer) AddWriters(w object.Writers) {
	sharing := map[types.UID]int{}
	for i := range a.References {
		sharing[a.References[i].UID]++
	}
	for i := range a.References {
		if r := &a.References[i]; sharing[r.UID] == 1 {
			r.WrittenBy = append(r.WrittenBy, w.References[r.UID]...)
		}
	}
	for i := range a.Finalizers {
		f := &a.Finalizers[i]
		f.WrittenBy = append(f.WrittenBy, w.Finalizers[f.Name]...)
	}
}
