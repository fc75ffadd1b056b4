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
	find: func(o objectContext) []Finding {
		first := slices.IndexFunc(o.object.Owners, object.Reference.Controls)
		if first < 0 {
			return nil
		}
		var out []Finding
		refused := o.assessment.UnlinkRejected(o.object)
		for i, r := range o.object.Owners[first+1:] {
			if r.Controls() {
				out = append(out, o.secondController(first, first+1+i, refused))
			}
		}
		return out
	},
}

// secondController returns the finding that the i-th reference names a second controller.
func (o objectContext) secondController(first, i int, refused bool) Finding {
	f := o.finding(i, reason.TwoControllers{First: o.owner(first), Second: o.owner(i)}, Unlink)
	switch {
	case refused:
		f.Severity, f.Consequence, f.Effect = Error, collector.ConsequenceStuck, reason.UpdateRefused
	case f.Severity == Info:
		f.Severity = Warning
	}
	return f
}
