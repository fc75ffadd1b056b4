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
		return s.mended(i,
			fmt.Sprintf("%s is gone", r),
			fmt.Sprintf("its owner %s does not exist, and %s", r, s.nobody()))
	}),
}

// nobody says that the UID was not seen, no louder than the view allows.
func (s sight) nobody() string {
	if s.graph.Snapshot().Complete() {
		return "no object has its UID"
	}
	return "no object that could be read has its UID"
}
