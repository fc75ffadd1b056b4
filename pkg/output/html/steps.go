package html

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// steps is the plan with an entry for each line of its preview in every list.
type steps struct {
	Sum    string   `json:"sum"`
	Digest string   `json:"digest"`
	Tone   []int    `json:"tone"`   // in Texts, as all below but Object and Depth
	Action []int    `json:"action"` //
	Name   []string `json:"name"`   // of lines that only count objects; else empty
	Object []int    `json:"object"` // or -1
	Why    []int    `json:"why"`
	Depth  []int    `json:"depth"`
}

func (b *builder) steps() *steps {
	all := &steps{
		Sum: planview.SummaryLine(b.page.Plan), Digest: b.page.Plan.Digest,
		Tone: []int{}, Action: []int{}, Name: []string{}, Object: []int{}, Why: []int{}, Depth: []int{},
	}
	for _, r := range planview.Rows(b.page.Plan) {
		at, shown := none, r.Name
		if n := b.graph.Find(r.Object.UID); r.Object.UID != "" && n != graph.None {
			at, shown = int(n), ""
		}
		all.Object, all.Name = append(all.Object, at), append(all.Name, shown)
		all.Tone, all.Action = append(all.Tone, b.texts.escaped(tone(r))), append(all.Action, b.texts.escaped(r.Label))
		all.Why, all.Depth = append(all.Why, b.texts.escaped(r.Why)), append(all.Depth, r.Depth)
	}
	return all
}

// tone returns the colour of a line of the preview.
func tone(r planview.Row) string {
	switch r.Action {
	case plan.ActionDelete:
		return "goes"
	case "":
		return "waits"
	default:
		return "changes"
	}
}
