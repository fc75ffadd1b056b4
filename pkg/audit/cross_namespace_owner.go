package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var crossNamespaceOwner = Rule{
	ID:      "cross-namespace-owner",
	Summary: "The owner lives in another namespace, where the garbage collector never searches for it.",
	find: eachCause(collector.CauseCrossNamespace, func(o objectContext, i int) reason.Brief {
		return reason.OwnerInOtherNamespace{Owner: o.owner(i), Namespace: o.object.Namespace}
	}),
}
