package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var replacedOwner = Rule{
	ID:      "replaced-owner",
	Summary: "An object of the owner's kind and name exists, but with another UID: it is a successor, not the owner.",
	find: eachCause(collector.CauseReplaced, func(o objectContext, i int) reason.Brief {
		return reason.OwnerReplaced{Owner: o.owner(i)}
	}),
}
