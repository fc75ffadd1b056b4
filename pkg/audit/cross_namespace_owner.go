package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var crossNamespaceOwner = Rule{
	ID:      "cross-namespace-owner",
	Summary: "The owner lives in another namespace, where the collector never looks for it.",
	find: eachCause(collector.CrossNamespace, func(s sight, i int) Finding {
		r, holder := s.object.Owners[i], s.judgements[i].Holder
		brief := fmt.Sprintf("%s lives in %s", r, holder.Namespace)
		if r.Kind != holder.Kind || r.Name != holder.Name {
			brief = fmt.Sprintf("%s has the UID of %s in %s", r, holder.Identity, holder.Namespace)
		}
		return s.mended(i, brief,
			fmt.Sprintf("its owner %s lives in %s, but an owner must be in the dependent's own namespace or cluster-scoped; this object lives in %s",
				holder.Identity, place(holder.Identity), place(s.object.Identity)))
	}),
}
