package html

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
)

// sequence is the plan as its preview has it, a place for each line.
type sequence struct {
	Sum    string   `json:"sum"`
	Digest string   `json:"digest"`
	Tone   []int    `json:"tone"`   // in Texts, as all below but Object and Depth
	Action []int    `json:"action"` //
	Name   []string `json:"name"`   // of lines that only count objects; else empty
	Object []int    `json:"object"` // or -1
	Why    []int    `json:"why"`
	Depth  []int    `json:"depth"`
}

func (b *builder) sequence() *sequence {
	all := &sequence{
		Sum: planview.SummaryLine(b.Plan), Digest: b.Plan.Digest,
		Tone: []int{}, Action: []int{}, Name: []string{}, Object: []int{}, Why: []int{}, Depth: []int{},
	}
	for _, r := range planview.Rows(b.Plan) {
		at, shown := none, r.Name
		if n := b.Graph.Find(r.Object.UID); r.Object.UID != "" && n != graph.None {
			at, shown = int(n), ""
		}
		all.Object, all.Name = append(all.Object, at), append(all.Name, shown)
		all.Tone, all.Action = append(all.Tone, b.texts.escaped(tone(r))), append(all.Action, b.texts.escaped(r.Label))
		all.Why, all.Depth = append(all.Why, b.texts.escaped(r.Why)), append(all.Depth, r.Depth)
	}
	return all
}

// tone is how a line of a preview is coloured.
func tone(r planview.Row) string {
	switch r.Action {
	case collector.ActionDelete:
		return "goes"
	case "":
		return "waits"
	default:
		return "changes"
	}
}
