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

// rounds bounds how often a repair is foretold anew because something is left out
// of it. What is lost after that is said to be.
const rounds = 5

// foretell says what the collector would do with each mended object without the
// repair, and blocks those that it deletes in spite of it. An object that it would
// delete only because that one is mended is left as it is, and so is one that it may
// delete then, for all that is known. One that goes on account of what else is mended
// is not spared by that, so it is mended as far as it can be.
func (r *repairBuilder) foretell() map[graph.Node]collector.Consequence {
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
		if goes(now.Object(n)) && !r.graph.Object(n).Terminating() {
			spared[n] = collector.ConsequenceDelete
		}
	}
	doubt := r.doubt()
	left, vain := map[graph.Node]operation{}, map[graph.Node]bool{}
	for round := 1; ; round++ {
		then := r.afterwards(r.graph.Snapshot())
		lost := r.lost(then)
		doubt.heed(r)
		worse := slices.DeleteFunc(r.nodes(), func(n graph.Node) bool {
			return lost[n] == nil && !doubt.about[n] || goes(now.Object(n)) || vain[n]
		})
		unspared := slices.DeleteFunc(slices.Sorted(maps.Keys(left)), func(n graph.Node) bool { return !r.goesAfter(n, then) })
		if len(worse)+len(unspared) == 0 || round == rounds {
			r.released = r.ends(now, then)
			r.tell(left, lost, vain, doubt.about)
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

// tell says why objects are left as they are, or lost in spite of the repair.
func (r *repairBuilder) tell(left map[graph.Node]operation, lost map[graph.Node]reason.Reason, vain, doubted map[graph.Node]bool) {
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

// goes says whether a model left nothing of an object, or will.
func goes(o *object.Object) bool { return o == nil || o.Terminating() }

// goesAfter says whether an object goes after a repair.
func (r *repairBuilder) goesAfter(n graph.Node, then maker) bool {
	return goes(then.course.Model.Object(then.graph.Find(r.graph.UID(n))))
}

// ends are the owners whose deletion is under way and comes to its end because of
// the repair alone.
func (r *repairBuilder) ends(now *simulate.Model, then maker) map[types.UID]bool {
	out := map[types.UID]bool{}
	for n := range r.graph.Listed() {
		node := graph.Node(n)
		if o := r.graph.Object(node); o.Terminating() && now.Object(node) != nil && then.course.Model.Object(then.graph.Find(o.UID)) == nil {
			out[o.UID] = true
		}
	}
	return out
}

// afterwards is what the collector does after the repair of what was seen, or of the
// same objects in another light.
func (r *repairBuilder) afterwards(seen *snapshot.Snapshot) maker {
	repaired := *seen
	repaired.Objects = slices.Clone(repaired.Objects)
	for n, wanted := range r.wanted {
		for _, part := range wanted.parts() {
			changed := part.change.Apply(*repaired.Objects[n])
			repaired.Objects[n] = &changed
		}
	}
	g := graph.New(&repaired)
	judge := collector.NewJudge(g)
	return maker{graph: g, judge: judge, course: simulate.NewModel(g, judge).Simulate(simulate.Bounds{})}
}

// lost are the mended objects that the collector deletes after the repair, and why.
func (r *repairBuilder) lost(then maker) map[graph.Node]reason.Reason {
	out := map[graph.Node]reason.Reason{}
	for n := range r.wanted {
		if r.goesAfter(n, then) && !r.graph.Object(n).Terminating() {
			out[n] = reason.ContentsDeleted{}
		}
	}
	for i := range then.course.Transitions {
		m := &then.course.Transitions[i]
		if n := r.graph.Find(then.graph.UID(m.Node)); m.Action == collector.ActionDelete && out[n] != nil {
			out[n] = then.step(i).Reason
		}
	}
	return out
}
