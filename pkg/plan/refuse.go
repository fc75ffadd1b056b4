package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// contentsGaps returns the gaps that may hide contents of a namespace or
// CustomResourceDefinition.
func (b *builder) contentsGaps(n graph.Node) []snapshot.Gap {
	return b.graph.View().ContentsGaps(b.graph.Object(n).Identity, b.options.Accepted)
}

// refuseUnlistedContents leaves out deletions whose contents were not completely listed.
func (b *builder) refuseUnlistedContents() {
	for _, d := range b.options.Bounds.Deletes {
		if o := b.graph.Object(d.Node); !o.Terminating() && len(b.contentsGaps(d.Node)) > 0 {
			b.refuse(d.Node, snapshot.ContentsUnknown(b.contentsGaps(d.Node)))
		}
	}
}

// refuseCascades leaves out deletions that cascade to an object whose contents were not
// completely listed. It reports whether there were any: then the plan has to be built again.
func (b *builder) refuseCascades(p *Plan) bool {
	var found bool
	transitions := b.result.Transitions
	for i := range transitions {
		transition := &transitions[i]
		if transition.Requested || transition.Action != collector.ActionDelete || len(b.contentsGaps(transition.Node)) == 0 {
			continue
		}
		found = true
		root := i
		for !transitions[root].Requested && transitions[root].CausedBy >= 0 {
			root = transitions[root].CausedBy
		}
		if transitions[root].Requested {
			b.refuse(transitions[root].Node, b.cascadeRefused(transition.Node))
		} else {
			b.refuseAll(transition.Node)
		}
	}
	for _, l := range p.DeletedLater {
		if n := b.graph.Find(l.Object.UID); len(b.contentsGaps(n)) > 0 {
			found = true
			b.refuseAll(n)
		}
	}
	return found
}

// refuseAll leaves out all deletions, because any of them may cascade to n.
func (b *builder) refuseAll(n graph.Node) {
	for _, d := range b.options.Bounds.Deletes {
		b.refuse(d.Node, b.cascadeRefused(n))
	}
}

// cascadeRefused returns why a deletion that cascades to n is left out.
func (b *builder) cascadeRefused(n graph.Node) reason.CascadeRefused {
	return reason.CascadeRefused{Object: b.graph.Object(n).Identity, Gaps: snapshot.ContentsUnknown(b.contentsGaps(n)).Gaps}
}

func (b *builder) refuse(n graph.Node, why reason.Reason) {
	deletes := slices.DeleteFunc(slices.Clone(b.options.Bounds.Deletes), func(d simulate.Deletion) bool { return d.Node == n })
	if len(deletes) == len(b.options.Bounds.Deletes) {
		return
	}
	b.options.Bounds.Deletes = deletes
	b.refused = append(b.refused, b.blockedObject(n, why))
}
