package audit

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

var multipleControllers = Rule{
	ID:      "multiple-controllers",
	Summary: "More than one owner claims to be the managing controller, which the API server no longer accepts.",
	find: func(s objectContext) []Finding {
		first := slices.IndexFunc(s.object.Owners, object.Reference.Controls)
		if first < 0 {
			return nil
		}
		var out []Finding
		refused := s.assessment.Refused(s.object)
		for i, r := range s.object.Owners[first+1:] {
			if r.Controls() {
				out = append(out, s.secondController(first, first+1+i, refused))
			}
		}
		return out
	},
}

// secondController returns the finding that the i-th reference is one controller too many.
func (s objectContext) secondController(first, i int, refused bool) Finding {
	f := s.finding(i, reason.TwoControllers{First: s.owner(first), Second: s.owner(i)}, Unlink)
	switch {
	case refused:
		f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.UpdateRefused{}
	case f.Severity == Info:
		f.Severity = Warning
	}
	return f
}
