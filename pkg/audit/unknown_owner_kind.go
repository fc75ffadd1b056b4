package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var unknownOwnerKind = Rule{
	ID:      "unknown-owner-kind",
	Summary: "The server knows no such kind, in any version.",
	find: eachCause(collector.CauseUnknownKind, func(o objectContext, i int) reason.Brief {
		return reason.OwnerKindUnknown{Owner: o.owner(i)}
	}),
}
