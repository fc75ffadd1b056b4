package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var mismatchedOwner = Rule{
	ID:      "mismatched-owner",
	Summary: "The owner's UID belongs to an object of another name or kind.",
	find: eachCause(collector.Mismatched, func(s sight, i int) Finding {
		r, holder := s.object.Owners[i], s.judgements[i].Holder
		return s.mended(i,
			fmt.Sprintf("%s has the UID of %s", r, holder.Identity),
			fmt.Sprintf("its reference names %s %s, but the UID belongs to %s %s", r.APIVersion, r, holder.APIVersion, holder.Identity))
	}),
}
