package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var terminatingOwner = Rule{
	ID:      "terminating-owner",
	Summary: "The owner is being deleted in the foreground and waits for its dependents.",
	find: eachCause(collector.Terminating, func(s sight, i int) Finding {
		r := s.object.Owners[i]
		return s.mended(i,
			fmt.Sprintf("%s is being deleted, foreground", r),
			fmt.Sprintf("its owner %s is being deleted in the foreground and waits for its dependents to go", r))
	}),
}
