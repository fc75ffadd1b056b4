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
		return s.on(i,
			fmt.Sprintf("%s %s, served: %s", r.APIVersion, r, served),
			fmt.Sprintf("its reference names %s as %s, which is not served (served: %s)", r, r.APIVersion, served),
			s.reversion(i))
	}),
}

// reversion mends a reference to the owner it means. Where its UID is known to
// live elsewhere or to be of another kind, a served version would only make the
// reference dangle, and the object garbage.
func (s sight) reversion(i int) Fix {
	r, holder := s.object.Owners[i], s.judgements[i].Holder
	if holder != nil && (holder.Kind != r.Kind || holder.Name != r.Name ||
		holder.Namespace != "" && holder.Namespace != s.object.Namespace) {
		return Unlink
	}
	return Reversion
}
