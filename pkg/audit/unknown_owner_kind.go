package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var unknownOwnerKind = Rule{
	ID:      "unknown-owner-kind",
	Summary: "The server knows no such kind, in any version.",
	find: eachCause(collector.UnknownKind, func(s sight, i int) Finding {
		r := s.object.Owners[i]
		return s.mended(i,
			fmt.Sprintf("%s %s: no such kind", r.APIVersion, r),
			fmt.Sprintf("its reference names %s %s, a kind that the server does not know", r.APIVersion, r))
	}),
}
