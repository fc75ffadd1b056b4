package audit

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

var multipleControllers = Rule{
	ID:      "multiple-controllers",
	Summary: "More than one owner claims to be the managing controller, which the API server no longer accepts.",
	find: func(s sight) []Finding {
		first := -1
		var out []Finding
		for i, r := range s.object.Owners {
			switch {
			case !r.Controls():
			case first < 0:
				first = i
			default:
				out = append(out, s.secondController(first, i))
			}
		}
		return out
	},
}

// secondController words the i-th reference as one controller too many. Such a
// metadata fails validation, so every patch of the object is refused, the
// collector's too (gc-semantics 6.11, 10.17).
func (s sight) secondController(first, i int) Finding {
	one, two := s.object.Owners[first], s.object.Owners[i]
	f := s.on(i,
		fmt.Sprintf("%s and %s both control it", one, two),
		fmt.Sprintf("%s and %s both claim to be its controller, so the API server refuses every update of it", one, two),
		Unlink)
	for k := range s.judgements {
		if collector.ConsequenceOf(s.object, s.judgements, k) == collector.Unlink {
			f.Severity, f.Consequence, f.Effect = Error, collector.Stuck, "is refused when it drops a reference"
			f.Message = fmt.Sprintf("%s and %s both claim to be its controller, so the API server refuses every update of it; the collector tries to drop a reference and is refused for ever", one, two)
			return f
		}
	}
	if f.Severity == Info {
		f.Severity = Warning
	}
	return f
}
