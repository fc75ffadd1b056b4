package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var unmonitoredOwner = Rule{
	ID:      "unmonitored-owner",
	Summary: "The owner is of a kind that the collector does not watch.",
	find: func(s sight) []Finding {
		var out []Finding
		for i, j := range s.judgements {
			if j.Verdict != collector.Solid && j.Verdict != collector.Waiting || !j.Unmonitored() {
				continue
			}
			r := s.object.Owners[i]
			out = append(out, s.on(i,
				fmt.Sprintf("%s is of a kind the collector does not watch", r),
				fmt.Sprintf("its owner %s exists, but the collector does not watch %s and has to ask for it again and again, so its deletion is noticed late", r, j.Mapping.Type),
				NoFix))
		}
		return out
	},
}
