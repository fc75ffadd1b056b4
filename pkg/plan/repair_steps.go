package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// steps returns the steps for one object, the first with the number at+1. unrepaired is what
// the garbage collector would do without them.
func (r *repairBuilder) steps(n graph.Node, at int, unrepaired collector.Consequence) ([]Step, Outcome) {
	o, judgements, repairs, wanted := r.graph.Object(n), r.judge.Object(n), r.repairs(n), r.wanted[n]
	before, verdicts := o, collector.Verdicts(judgements)
	var out []Step
	for k, part := range wanted.changes() {
		transition := &simulate.Transition{
			Decision: collector.Decision{Action: collector.Action(part.action), Change: part.change, UndecidableReference: -1},
			Pass:     1, Node: n, StateBefore: before, Verdicts: slices.Clone(verdicts), OrphanedFrom: graph.None, CausedBy: -1,
		}
		s := Step{
			ID: id(at + k), Pass: 1, Action: part.action, After: []string{}, Transition: transition,
			Object: Object{Identity: o.Identity, ResourceVersion: o.ResourceVersion},
		}
		if k > 0 {
			transition.CausedBy, transition.Prerequisites = at+k-1, []int{at + k - 1}
			s.Follows, s.After = id(at+k-1), []string{id(at + k - 1)}
		}
		for _, i := range part.change.Touched() {
			s.References = append(s.References, referenceOf(before.Owners[i], judgements[i], repairs[i], part.action))
			s.Repairs = append(s.Repairs, repairs[i])
		}
		s.OwnerUIDs = owners(s.References)
		var without reason.WithoutRepair
		if k == 0 {
			without = withoutRepair(unrepaired)
		}
		s.Reason = repairReason(transition, s, r.completed(s.References), without)
		out = append(out, s)
		for _, w := range part.change.Rewrite {
			verdicts[w.Index] = collector.VerdictSolid
		}
		after := part.change.Apply(*before)
		before = &after
	}
	return out, Outcome{Object: o.Identity, State: Changed, WaitsFor: []string{}, WithoutRepair: unrepaired}
}

// completed returns the owners whose deletion completes without these references.
func (r *repairBuilder) completed(references []Reference) []string {
	var out []string
	for _, reference := range references {
		if uid := types.UID(reference.UID); r.released[uid] && reference.Becomes == nil {
			out = append(out, r.graph.Object(r.graph.Find(uid)).String())
		}
	}
	return out
}

func referenceOf(r object.Reference, j collector.Judgement, m repair.Repair, action Action) Reference {
	out := Reference{Reference: *audit.ReferenceOf(r), Verdict: j.Verdict, Found: j.Found()}
	if action != ActionUnlink {
		out.Becomes = audit.ReferenceOf(m.Becomes)
	}
	return out
}

// repairWork is everything that is done to the references of one object.
type repairWork struct {
	relink, updateVersion []object.Rewrite
	drop                  []int
}

func (p *repairWork) add(fix repair.Fix, i int, m repair.Repair) {
	switch fix {
	case repair.Relink:
		p.relink = append(p.relink, object.Rewrite{Index: i, Reference: m.Becomes})
	case repair.UpdateVersion:
		p.updateVersion = append(p.updateVersion, object.Rewrite{Index: i, Reference: m.Becomes})
	case repair.Unlink:
		p.drop = append(p.drop, i)
	case repair.None:
	}
}

func (p *repairWork) empty() bool { return len(p.relink)+len(p.updateVersion)+len(p.drop) == 0 }

// changes returns the changes to one object by action. Those that add a solid owner come
// first, because the garbage collector may run in between. No change moves a reference that
// a later one has the index of.
func (p *repairWork) changes() []part {
	var out []part
	for _, p := range []part{
		{ActionRelink, object.Change{Rewrite: p.relink}}, {ActionUpdateVersion, object.Change{Rewrite: p.updateVersion}}, {ActionUnlink, object.Change{Drop: p.drop}},
	} {
		if !p.change.Empty() {
			out = append(out, p)
		}
	}
	return out
}

type part struct {
	action Action
	change object.Change
}
