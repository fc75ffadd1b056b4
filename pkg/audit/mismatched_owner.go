package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var mismatchedOwner = Rule{
	ID:      "mismatched-owner",
	Summary: "The owner's UID belongs to an object of another name or kind.",
	find: eachCause(collector.CauseMismatched, func(o objectContext, i int) reason.Brief {
		return reason.OwnerMismatched{Owner: o.owner(i)}
	}),
}
