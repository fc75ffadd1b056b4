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

// maxRounds limits how often protect simulates a repair. Objects that are lost in the last
// round are reported as such.
const maxRounds = 5

// protect leaves out the repair of objects that the garbage collector would delete, or might
// delete, only because of the repair. If leaving one out does not save it, because other
// repairs get it deleted, it is repaired all the same. protect returns what the garbage
// collector would do with each object without any repair.
func (r *repairBuilder) protect() map[graph.Node]collector.Consequence {
	unrepaired := map[graph.Node]collector.Consequence{}
	if len(r.wanted) == 0 {
		return unrepaired
	}
	model := simulate.NewModel(r.judge, simulate.Options{})
	for n := range r.wanted {
		unrepaired[n] = consequence(r.graph.Object(n), model.Verdicts(n))
	}
	without := simulate.Run(r.judge, simulate.Options{}, simulate.Bounds{})
	for n := range r.wanted {
		if without.Deletes(n) && !r.graph.Object(n).Terminating() {
			unrepaired[n] = collector.ConsequenceDelete
		}
	}
	var worst *snapshot.Snapshot // nil if the scan is complete
	var worstWithout builder
	affected := map[graph.Node]bool{} // deleted in the worst case, and only because of the repair
	if scan := r.graph.Snapshot(); !scan.Complete() {
		worst = worstCase(scan)
		worstWithout = r.simulateRepaired(worst, nil)
	}
	leftOut, forced := map[graph.Node]repairWork{}, map[graph.Node]bool{}
	for round := 1; ; round++ {
		with := r.simulateRepaired(r.graph.Snapshot(), r.wanted)
		lost := r.lost(with)
		if worst != nil {
			with := r.simulateRepaired(worst, r.wanted)
			for n := range r.wanted {
				affected[n] = affected[n] || r.deletedAfter(n, with) && !r.deletedAfter(n, worstWithout)
			}
		}
		harmed := slices.DeleteFunc(r.nodes(), func(n graph.Node) bool {
			return lost[n] == nil && !affected[n] || without.Deletes(n) || forced[n]
		})
		notSaved := slices.DeleteFunc(slices.Sorted(maps.Keys(leftOut)), func(n graph.Node) bool { return !r.deletedAfter(n, with) })
		if len(harmed)+len(notSaved) == 0 || round == maxRounds {
			r.released = r.completedDeletions(without.Model, with)
			for n := range leftOut {
				r.blocked[n] = append(r.blocked[n], reason.RepairWouldDelete.Of(affected[n]))
			}
			for n, why := range lost {
				r.blocked[n] = append(r.blocked[n], reason.DeletedDespiteRepair.Of(reason.Nested{Reason: why}, forced[n]))
			}
			r.reportDoubts(with, lost, unrepaired)
			return unrepaired
		}
		for _, n := range harmed {
			leftOut[n] = r.wanted[n]
			delete(r.wanted, n)
		}
		for _, n := range notSaved {
			r.wanted[n], forced[n] = leftOut[n], true
			delete(leftOut, n)
		}
	}
}

// reportDoubts reports the objects that are repaired so that they stay, and that the garbage collector deletes
// all the same in some order of events. lost are those that are reported already.
func (r *repairBuilder) reportDoubts(with builder, lost map[graph.Node]reason.Reason, unrepaired map[graph.Node]collector.Consequence) {
	saved := slices.DeleteFunc(r.nodes(), func(n graph.Node) bool { return lost[n] != nil || unrepaired[n] != collector.ConsequenceDelete })
	if len(saved) == 0 {
		return
	}
	possible := simulate.Run(with.judge, simulate.Predicting, simulate.Bounds{})
	for _, n := range saved {
		if m := with.graph.Find(r.graph.UID(n)); possible.Terminates(m) != simulate.Never {
			r.blocked[n] = append(r.blocked[n], reason.PerhapsDeletedDespiteRepair.Of(reason.Nested{Reason: possible.Reason(m)}))
		}
	}
}

// consequence returns what the garbage collector does with an object because of those of its
// references that are not solid.
func consequence(o *object.Object, verdicts []collector.Verdict) collector.Consequence {
	for i, v := range verdicts {
		if v != collector.VerdictSolid {
			return collector.Assess(o, verdicts).ConsequenceFor(o.Owners[i].UID, v)
		}
	}
	return collector.ConsequenceNone
}

// simulateRepaired simulates the garbage collector after these repairs of a scan of the same
// objects. The model has its own graph, whose nodes of unlisted objects may differ.
func (r *repairBuilder) simulateRepaired(scan *snapshot.Snapshot, repairs map[graph.Node]repairWork) builder {
	repaired := *scan
	repaired.Objects = slices.Clone(repaired.Objects)
	for n, wanted := range repairs {
		for _, change := range wanted.changes() {
			changed := change.Apply(*repaired.Objects[n])
			repaired.Objects[n] = &changed
		}
	}
	g := graph.New(&repaired)
	judge := collector.NewJudge(g)
	return builder{graph: g, judge: judge, result: simulate.Run(judge, simulate.Options{}, simulate.Bounds{})}
}

// deletedAfter reports whether an object is deleted or terminating after a repair.
func (r *repairBuilder) deletedAfter(n graph.Node, with builder) bool {
	return with.result.Deletes(with.graph.Find(r.graph.UID(n)))
}

// completedDeletions returns the terminating owners that only the repair lets go.
func (r *repairBuilder) completedDeletions(without *simulate.Model, with builder) map[types.UID]bool {
	out := map[types.UID]bool{}
	for n := range r.graph.Listed() {
		node := graph.Node(n)
		if o := r.graph.Object(node); o.Terminating() && without.Object(node) != nil && with.result.Model.Object(with.graph.Find(o.UID)) == nil {
			out[o.UID] = true
		}
	}
	return out
}

// lost returns the repaired objects that the garbage collector deletes after the repair, and
// why.
func (r *repairBuilder) lost(with builder) map[graph.Node]reason.Reason {
	out := map[graph.Node]reason.Reason{}
	for n := range r.wanted {
		if r.deletedAfter(n, with) && !r.graph.Object(n).Terminating() {
			out[n] = reason.ContentsDeleted
		}
	}
	for i := range with.result.Transitions {
		t := &with.result.Transitions[i]
		if n := r.graph.Find(with.graph.UID(t.Node)); t.Action == collector.ActionDelete && out[n] != nil {
			out[n] = with.step(i).Reason
		}
	}
	return out
}

// worstCase returns a scan of the same objects in which everything that could not be read is
// absent. Groups that could not be discovered remain unknown. The nodes of listed objects
// are the same. The model keeps objects whose owner could not be verified; a repair must not
// rely on that if it lets the garbage collector decide about an object that it leaves alone today.
func worstCase(s *snapshot.Snapshot) *snapshot.Snapshot {
	worst := *s
	worst.Gaps, worst.Listed = nil, nil
	worst.Lookups = slices.DeleteFunc(slices.Clone(s.Lookups), func(l snapshot.Lookup) bool { return l.Outcome == snapshot.Failed })
	for _, t := range s.Types {
		worst.Listed = append(worst.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
	}
	return &worst
}
