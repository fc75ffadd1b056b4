package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var unverifiedOwner = Rule{
	ID:      "unverified-owner",
	Summary: "Whether the owner exists could not be verified.",
	find: eachCause(collector.Unverified, func(s objectContext, i int) reason.Brief {
		return s.judgements[i].Unverified(s.object.Owners[i])
	}),
}
