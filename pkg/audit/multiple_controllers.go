package audit

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

var multipleControllers = Rule{
	ID:      "multiple-controllers",
	Summary: "More than one owner claims to be the managing controller, which the API server no longer accepts.",
	find: func(s sight) []Finding {
		first := slices.IndexFunc(s.object.Owners, object.Reference.Controls)
		if first < 0 {
			return nil
		}
		var out []Finding
		refused := s.outlook.Refused(s.object)
		for i, r := range s.object.Owners[first+1:] {
			if r.Controls() {
				out = append(out, s.secondController(first, first+1+i, refused))
			}
		}
		return out
	},
}

// secondController words the i-th reference as one controller too many.
func (s sight) secondController(first, i int, refused bool) Finding {
	one, two := s.object.Owners[first], s.object.Owners[i]
	fact := fmt.Sprintf("%s and %s both claim to be its controller, so the API server refuses every update that leaves both", one, two)
	f := s.on(i, fmt.Sprintf("%s and %s both control it", one, two), fact, Unlink)
	switch {
	case refused:
		f.Severity, f.Consequence, f.Effect = Error, collector.Stuck, "is refused when it drops a reference"
		f.Message = fact + "; the collector tries to drop another reference and is refused again and again"
	case f.Severity == Info:
		f.Severity = Warning
	}
	return f
}
