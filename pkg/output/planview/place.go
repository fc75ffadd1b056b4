package planview

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// places are the namespaces of several objects.
type places map[string]bool

func (p places) add(o object.Identity) { p[o.Namespace] = true }

// String returns the namespace, or how many there are.
func (p places) String() string {
	if len(p) > 1 {
		return wording.Thousands(len(p)) + " namespaces"
	}
	for at := range p {
		return namespace(object.Identity{Namespace: at})
	}
	return ""
}

// Place returns where the objects are that the plan changes or deletes, and others: " in namespace shop",
// " in 3 namespaces". It returns "" if none has a namespace. Objects without one are named
// only beside others: " in namespace shop and at the cluster scope".
func Place(p *plan.Plan, others ...object.Identity) string {
	namespaces := places{}
	for i := range p.Steps {
		namespaces.add(p.Steps[i].Object.Identity)
	}
	for i := range p.Outcomes {
		namespaces.add(p.Outcomes[i].Object)
	}
	for _, o := range others {
		namespaces.add(o)
	}
	more := ""
	if namespaces[""] {
		delete(namespaces, "")
		more = " and at the cluster scope"
	}
	switch len(namespaces) {
	case 0:
		return ""
	case 1:
		return " in namespace " + namespaces.String() + more
	}
	return " in " + namespaces.String() + more
}
