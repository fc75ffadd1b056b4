package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var missingOwner = Rule{
	ID:      "missing-owner",
	Summary: "No object has the owner's UID, and none has its name.",
	find: eachCause(collector.Missing, func(s sight, i int) Finding {
		r := s.object.Owners[i]
		return s.on(i,
			fmt.Sprintf("%s is gone", r),
			fmt.Sprintf("its owner %s does not exist, neither by name nor by UID", r),
			Unlink)
	}),
}
