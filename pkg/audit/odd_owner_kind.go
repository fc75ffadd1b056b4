package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var oddOwnerKind = Rule{
	ID:      "odd-owner-kind",
	Summary: "The owner's kind or apiVersion is spelled so that it works by accident, or by mistake.",
	find: func(s sight) []Finding {
		var out []Finding
		for i, j := range s.judgements {
			r := s.object.Owners[i]
			fact := ""
			switch j.Mapping.Spelling {
			case snapshot.Plain:
				continue
			case snapshot.Lowercase:
				fact = fmt.Sprintf("kind %q is spelled in lower case; it works by accident, the kind is %s", r.Kind, j.Mapping.Type.Kind)
			case snapshot.ListKind:
				fact = fmt.Sprintf("kind %q is the kind of a list; the collector looks for it among %s", r.Kind, j.Mapping.Type)
				if !j.Mapping.Served {
					fact += ", which nothing serves, so it finds nothing there, whatever exists"
				}
			case snapshot.NoVersion:
				fact = fmt.Sprintf("apiVersion %q names no version; the collector takes it for %s", r.APIVersion, j.Mapping.Type.APIVersion())
			}
			out = append(out, s.on(i, fmt.Sprintf("%s: %s", r, j.Mapping.Spelling), fact, NoFix))
		}
		return out
	},
}
