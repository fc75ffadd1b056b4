package audit

import "github.com/kubectl-gc/kubectl-gc/pkg/reason"

var unmonitoredOwner = Rule{
	ID:      "unmonitored-owner",
	Summary: "The owner is of a kind that the collector does not watch.",
	find: func(o objectContext) []Finding {
		var out []Finding
		for i, j := range o.judgements {
			if j.Verdict.OwnerExists() && j.Unmonitored() {
				out = append(out, o.finding(i, reason.OwnerNotMonitored{Owner: o.owner(i), Type: j.Mapping.Type.String()}, NoFix))
			}
		}
		return out
	},
}
