package planview

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Place returns where the objects are that the plan changes or deletes, and others: " in namespace shop",
// " in 3 namespaces". It returns "" if none has a namespace. Objects without one are named
// only beside others: " in namespace shop and at the cluster scope".
func Place(p *plan.Plan, others ...object.Identity) string {
	namespaces := map[string]bool{}
	add := func(o object.Identity) { namespaces[o.Namespace] = true }
	for i := range p.Steps {
		add(p.Steps[i].Object.Identity)
	}
	for i := range p.Outcomes {
		add(p.Outcomes[i].Object)
	}
	for _, o := range others {
		add(o)
	}
	more := ""
	if namespaces[""] {
		delete(namespaces, "")
		more = " and at the cluster scope"
	}
	if len(namespaces) > 1 {
		return " in " + wording.Thousands(len(namespaces)) + " namespaces" + more
	}
	for only := range namespaces {
		return " in namespace " + escape.Word(only) + more
	}
	return ""
}
