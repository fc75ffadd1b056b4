package planview

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Alarming names what of a plan is to be confirmed one by one, in the order of
// the plan: namespaces, CustomResourceDefinitions, volumes and claims, and
// anything in kube-system, that the plan deletes or that goes along with
// something it deletes.
func Alarming(p *plan.Plan) []string {
	var out []string
	l := lay(p)
	for i := range l.lines {
		if o := l.main(i).Object.Identity; l.deletes(i) && alarming(o) {
			said := located(o)
			if what, how := l.along(i); what != "" {
				said += ": " + what + " " + how
			}
			out = append(out, said)
		}
		for _, o := range l.lines[i].swept.members {
			if alarming(o) {
				out = append(out, located(o))
			}
		}
	}
	return out
}

func alarming(o object.Identity) bool {
	return o.Namespace == "kube-system" || o.IsNamespace() || o.IsDefinition() || isStorage(o)
}

func isStorage(o object.Identity) bool {
	return isClaim(o) || groupKind(o) == schema.GroupKind{Kind: "PersistentVolume"}
}

func isClaim(o object.Identity) bool {
	return groupKind(o) == schema.GroupKind{Kind: "PersistentVolumeClaim"}
}

func located(o object.Identity) string {
	if o.Namespace == "" {
		return name(o)
	}
	return name(o) + " -n " + text(o.Namespace)
}
