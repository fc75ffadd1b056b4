package plan

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// maxRounds bounds how often a repair is foretold anew because something is left out
// of it. What is lost after that is said to be.
const maxRounds = 5

// protect says what the collector would do with each mended object without the
// repair, and blocks those that it deletes in spite of it. An object that it would
// delete only because that one is mended is left as it is, and so is one that it may
// delete then, for all that is known. One that goes on account of what else is mended
// is not spared by that, so it is mended as far as it can be.
func (r *repairBuilder) protect() map[graph.Node]collector.Consequence {
	spared := map[graph.Node]collector.Consequence{}
	if len(r.wanted) == 0 {
		return spared
	}
	model := simulate.NewModel(r.graph, r.judge)
	for n := range r.wanted {
		spared[n] = consequence(r.graph.Object(n), model.Verdicts(n))
	}
	now := model.Simulate(simulate.Bounds{}).Model
	for n := range r.wanted {
		if deletedOrTerminating(now.Object(n)) && !r.graph.Object(n).Terminating() {
			spared[n] = collector.ConsequenceDelete
		}
	}
	doubt := r.uncertainty()
	left, vain := map[graph.Node]repairWork{}, map[graph.Node]bool{}
	for round := 1; ; round++ {
		then := r.simulateRepaired(r.graph.Snapshot())
		lost := r.lost(then)
		doubt.update(r)
		worse := slices.DeleteFunc(r.nodes(), func(n graph.Node) bool {
			return lost[n] == nil && !doubt.affected[n] || deletedOrTerminating(now.Object(n)) || vain[n]
		})
		unspared := slices.DeleteFunc(slices.Sorted(maps.Keys(left)), func(n graph.Node) bool { return !r.deletedAfter(n, then) })
		if len(worse)+len(unspared) == 0 || round == maxRounds {
			r.released = r.completedDeletions(now, then)
			r.report(left, lost, vain, doubt.affected)
			return spared
		}
		for _, n := range worse {
			left[n] = r.wanted[n]
			delete(r.wanted, n)
		}
		for _, n := range unspared {
			r.wanted[n], vain[n] = left[n], true
			delete(left, n)
		}
	}
}

// report says why objects are left as they are, or lost in spite of the repair.
func (r *repairBuilder) report(left map[graph.Node]repairWork, lost map[graph.Node]reason.Reason, vain, doubted map[graph.Node]bool) {
	for n := range left {
		r.blocked[n] = append(r.blocked[n], reason.RepairWouldDelete{Uncertain: doubted[n]})
	}
	for n, why := range lost {
		r.blocked[n] = append(r.blocked[n], reason.DeletedDespiteRepair{Because: reason.Nested{Reason: why}, FromRepairs: vain[n]})
	}
}

// consequence is what the collector does with an object because of the references
// that do not hold, all of them together.
func consequence(o *object.Object, verdicts []collector.Verdict) collector.Consequence {
	for _, v := range verdicts {
		if v != collector.Solid {
			return collector.Assess(o, verdicts).Of(v)
		}
	}
	return collector.ConsequenceNone
}

// deletedOrTerminating says whether a model left nothing of an object, or will.
func deletedOrTerminating(o *object.Object) bool { return o == nil || o.Terminating() }

// deletedAfter says whether an object goes after a repair.
func (r *repairBuilder) deletedAfter(n graph.Node, then builder) bool {
	return deletedOrTerminating(then.result.Model.Object(then.graph.Find(r.graph.UID(n))))
}

// completedDeletions are the owners whose deletion is under way and comes to its end because of
// the repair alone.
func (r *repairBuilder) completedDeletions(now *simulate.Model, then builder) map[types.UID]bool {
	out := map[types.UID]bool{}
	for n := range r.graph.Listed() {
		node := graph.Node(n)
		if o := r.graph.Object(node); o.Terminating() && now.Object(node) != nil && then.result.Model.Object(then.graph.Find(o.UID)) == nil {
			out[o.UID] = true
		}
	}
	return out
}

// simulateRepaired is what the collector does after the repair of what was seen, or of the
// same objects in another light.
func (r *repairBuilder) simulateRepaired(seen *snapshot.Snapshot) builder {
	repaired := *seen
	repaired.Objects = slices.Clone(repaired.Objects)
	for n, wanted := range r.wanted {
		for _, part := range wanted.changes() {
			changed := part.change.Apply(*repaired.Objects[n])
			repaired.Objects[n] = &changed
		}
	}
	g := graph.New(&repaired)
	judge := collector.NewJudge(g)
	return builder{graph: g, judge: judge, result: simulate.NewModel(g, judge).Simulate(simulate.Bounds{})}
}

// lost are the mended objects that the collector deletes after the repair, and why.
func (r *repairBuilder) lost(then builder) map[graph.Node]reason.Reason {
	out := map[graph.Node]reason.Reason{}
	for n := range r.wanted {
		if r.deletedAfter(n, then) && !r.graph.Object(n).Terminating() {
			out[n] = reason.ContentsDeleted{}
		}
	}
	for i := range then.result.Transitions {
		m := &then.result.Transitions[i]
		if n := r.graph.Find(then.graph.UID(m.Node)); m.Action == collector.ActionDelete && out[n] != nil {
			out[n] = then.step(i).Reason
		}
	}
	return out
}
