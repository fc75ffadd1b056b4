package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var crossNamespaceOwner = Rule{
	ID:      "cross-namespace-owner",
	Summary: "The owner lives in another namespace, where the garbage collector never searches for it.",
	find: eachCause(collector.CrossNamespace, func(s objectContext, i int) reason.Brief {
		return reason.OwnerInOtherNamespace{Owner: s.owner(i), Namespace: s.object.Namespace}
	}),
}
