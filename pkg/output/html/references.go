package html

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// references has a place for each owner reference, those of the first object first.
type references struct {
	To  []int `json:"to"`  // the place of what bears the UID
	How []int `json:"how"` // the verdict's number, and the flags
	// Claims are of references that are not plainly what they lead to, each its place,
	// apiVersion, kind and name (in Texts), and the finding that speaks of it, or -1.
	Claims [][5]int `json:"claims"`
}

// The flags of a reference, beside its verdict.
const (
	controls = 8
	blocks   = 16
)

func (b *builder) references() references {
	told := b.told()
	all := references{To: []int{}, How: []int{}, Claims: [][5]int{}}
	for n := graph.Node(0); b.Graph.Object(n) != nil; n++ {
		for i, r := range b.Graph.Object(n).Owners {
			j := b.judge.Reference(graph.Edge{Node: n, Index: i})
			how := slices.Index(verdicts, j.Verdict)
			if r.Controls() {
				how |= controls
			}
			if r.Blocks() {
				how |= blocks
			}
			if !plain(j) || !named(r, j.Holder) {
				all.Claims = append(all.Claims, [5]int{
					len(all.To), b.texts.of(r.APIVersion, nameWidth), b.texts.of(r.Kind, nameWidth), b.texts.of(r.Name, nameWidth),
					told.of(n, r, j),
				})
			}
			all.To = append(all.To, int(b.Graph.Owners(n)[i]))
			all.How = append(all.How, how)
		}
	}
	return all
}

// plain says whether nothing is remarkable about a reference.
func plain(j collector.Judgement) bool {
	return j.Verdict == collector.Solid && j.Cause == collector.NoCause
}

// named says whether a reference names its owner as it was seen.
func named(r object.Reference, o *object.Object) bool {
	return o != nil && r.APIVersion == o.APIVersion && r.Kind == o.Kind && r.Name == o.Name
}

// told finds the finding of a reference: that which speaks of its verdict.
type told map[claim]int

type claim struct {
	node graph.Node
	rule string
	of   audit.Reference
}

func (b *builder) told() told {
	out := told{}
	for i, f := range b.ordered() {
		if f.Reference != nil {
			key := claim{b.Graph.Find(f.Object.UID), f.Rule, *f.Reference}
			if _, known := out[key]; !known {
				out[key] = i
			}
		}
	}
	return out
}

func (t told) of(n graph.Node, r object.Reference, j collector.Judgement) int {
	if at, known := t[claim{n, audit.RuleOf(j.Cause), *audit.ReferenceOf(r)}]; known {
		return at
	}
	return none
}
