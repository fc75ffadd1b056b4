package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var missingOwner = Rule{
	ID:      "missing-owner",
	Summary: "No object has the owner's UID, and none has its name.",
	find: eachCause(collector.CauseMissing, func(o objectContext, i int) reason.Brief {
		return reason.OwnerMissing{Owner: o.owner(i), ScanComplete: o.rules.graph.Snapshot().Complete()}
	}),
}
