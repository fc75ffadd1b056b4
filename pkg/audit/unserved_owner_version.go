package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var unservedOwnerVersion = Rule{
	ID:      "unserved-owner-version",
	Summary: "The owner's kind is known or its UID exists, but the reference's apiVersion is not served.",
	find: eachCause(collector.CauseUnservedVersion, func(o objectContext, i int) reason.Brief {
		return reason.OwnerVersionNotServed{Owner: o.owner(i)}
	}),
}
