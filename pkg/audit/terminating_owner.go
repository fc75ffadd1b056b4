package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var terminatingOwner = Rule{
	ID:      "terminating-owner",
	Summary: "The owner is being deleted in the foreground and waits for its dependents.",
	find: eachCause(collector.CauseTerminating, func(o objectContext, i int) reason.Brief {
		return reason.OwnerWaiting{Owner: o.owner(i)}
	}),
}
