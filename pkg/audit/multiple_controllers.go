package audit

import (
	"fmt"
	"slices"

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

// secondController words the i-th reference as one controller too many. An
// update that leaves two fails validation, the collector's patches too; one that
// leaves a single one passes, whatever was stored before (gc-semantics 6.11,
// 10.17).
func (s sight) secondController(first, i int) Finding {
	one, two := s.object.Owners[first], s.object.Owners[i]
	f := s.on(i,
		fmt.Sprintf("%s and %s both control it", one, two),
		fmt.Sprintf("%s and %s both claim to be its controller, so the API server refuses every update that leaves both", one, two),
		Unlink)
	if s.drops() && s.controllersLeft() > 1 {
		f.Severity, f.Consequence, f.Effect = Error, collector.Stuck, "is refused when it drops a reference"
		f.Message = fmt.Sprintf("%s and %s both claim to be its controller, so the API server refuses every update that leaves both; the collector tries to drop another reference and is refused again and again", one, two)
	}
	if f.Severity == Info {
		f.Severity = Warning
	}
	return f
}

// drops says whether the collector will drop a reference of the object.
func (s sight) drops() bool {
	return slices.ContainsFunc(s.judgements, func(j collector.Judgement) bool {
		return s.outlook.Of(j.Verdict) == collector.Unlink
	})
}

// controllersLeft counts the claims that remain when the collector has dropped
// what it will.
func (s sight) controllersLeft() int {
	n := 0
	for i, j := range s.judgements {
		if j.Verdict == collector.Solid && s.object.Owners[i].Controls() {
			n++
		}
	}
	return n
}
