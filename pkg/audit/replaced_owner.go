package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var replacedOwner = Rule{
	ID:      "replaced-owner",
	Summary: "An object of the owner's kind and name exists, but with another UID: it is a successor, not the owner.",
	find: eachCause(collector.Replaced, func(s sight, i int) Finding {
		r := s.object.Owners[i]
		return s.mended(i,
			fmt.Sprintf("%s has another UID now", r),
			fmt.Sprintf("its owner %s was replaced: the reference says UID %s, the one there now has %s", r, r.UID, s.judgements[i].Resident.UID))
	}),
}
