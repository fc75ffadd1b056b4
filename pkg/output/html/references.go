package html

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// references has an entry for each owner reference, those of the first object first.
type references struct {
	To  []int `json:"to"`  // the place of what bears the UID
	How []int `json:"how"` // the verdict's number, and the flags
	// Claims has the references that are not plain, or name their owner differently: index of
	// the reference, apiVersion, kind and name in Texts, index of the finding or -1.
	Claims [][5]int `json:"claims"`
}

// The flags of a reference, beside its verdict.
const (
	controls = 8
	blocks   = 16
)

func (b *builder) references() references {
	index := b.findingIndex()
	all := references{To: []int{}, How: []int{}, Claims: [][5]int{}}
	for n := graph.Node(0); b.graph.Object(n) != nil; n++ {
		for i, r := range b.graph.Object(n).Owners {
			j := b.judge.Reference(graph.Edge{Node: n, Index: i})
			how := slices.Index(verdicts, j.Verdict)
			if r.Controls() {
				how |= controls
			}
			if r.Blocks() {
				how |= blocks
			}
			if !plain(j) || !namesExactly(r, j.UIDHolder) {
				all.Claims = append(all.Claims, [5]int{
					len(all.To), b.texts.of(r.APIVersion, nameWidth), b.texts.of(r.Kind, nameWidth), b.texts.of(r.Name, nameWidth),
					index.of(n, r, j),
				})
			}
			all.To = append(all.To, int(b.graph.Owners(n)[i]))
			all.How = append(all.How, how)
		}
	}
	return all
}

// plain reports whether a reference is valid and unremarkable.
func plain(j collector.Judgement) bool {
	return j.Verdict == collector.VerdictSolid && j.Cause == collector.CauseNone
}

// namesExactly reports whether a reference names its owner as it was read.
func namesExactly(r object.Reference, o *object.Object) bool {
	return o != nil && r.APIVersion == o.APIVersion && r.Kind == o.Kind && r.Name == o.Name
}

// findingIndex is the index of the finding for each reference that has one.
type findingIndex map[claim]int

type claim struct {
	node graph.Node
	rule string
	of   audit.Reference
}

func (b *builder) findingIndex() findingIndex {
	out := findingIndex{}
	for i, f := range b.sortedFindings() {
		if f.Reference != nil {
			key := claim{b.graph.Find(f.Object.UID), f.Rule, *f.Reference}
			if _, known := out[key]; !known {
				out[key] = i
			}
		}
	}
	return out
}

func (t findingIndex) of(n graph.Node, r object.Reference, j collector.Judgement) int {
	if at, known := t[claim{n, audit.RuleForCause(j.Cause), *audit.ReferenceOf(r)}]; known {
		return at
	}
	return none
}
