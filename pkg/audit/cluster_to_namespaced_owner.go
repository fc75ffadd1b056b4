package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var clusterToNamespacedOwner = Rule{
	ID:      "cluster-to-namespaced-owner",
	Summary: "A cluster-scoped object names an owner of a namespaced kind, which it can never have.",
	find: eachCause(collector.CauseClusterToNamespaced, func(o objectContext, i int) reason.Brief {
		return reason.OwnerNamespaced{Owner: o.owner(i)}
	}),
}
