package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var unverifiedOwner = Rule{
	ID:      "unverified-owner",
	Summary: "Whether the owner exists could not be verified.",
	find: eachCause(collector.CauseUnverified, func(o objectContext, i int) reason.Brief {
		return o.judgements[i].Unverified(o.object.Owners[i])
	}),
}
