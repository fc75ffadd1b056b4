package audit

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var unservedOwnerVersion = Rule{
	ID:      "unserved-owner-version",
	Summary: "The owner's kind is known or its UID exists, but the reference's apiVersion is not served.",
	find: eachCause(collector.UnservedVersion, func(s sight, i int) Finding {
		r := s.object.Owners[i]
		served := strings.Join(s.judgements[i].Served, ", ")
		return s.mended(i,
			fmt.Sprintf("%s %s, served: %s", r.APIVersion, r, served),
			fmt.Sprintf("its reference names %s as %s, which is not served (served: %s)", r, r.APIVersion, served))
	}),
}
