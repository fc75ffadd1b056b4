package audit

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var misspelledOwnerKind = Rule{
	ID:      "misspelled-owner-kind",
	Summary: "The owner's kind or apiVersion is spelled so that it works by accident, or by mistake.",
	find: func(o objectContext) []Finding {
		var out []Finding
		for i, j := range o.judgements {
			found := reason.OwnerKindMisspelled{Owner: o.owner(i), Spelling: j.Mapping.Spelling}
			switch j.Mapping.Spelling {
			case snapshot.ExactSpelling:
				continue
			case snapshot.Lowercase:
				found.Resolved = j.Mapping.Type.Kind
			case snapshot.ListKind:
				found.Resolved, found.Unserved = j.Mapping.Type.String(), !j.Mapping.Served
			case snapshot.NoVersion:
				found.Resolved = j.Mapping.Type.APIVersion()
			}
			out = append(out, o.finding(i, found, NoFix))
		}
		return out
	},
}
