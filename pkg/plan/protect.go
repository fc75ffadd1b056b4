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

// protect leaves out the repair of objects that the cluster's own garbage collector, or this program as the collector, would
// delete, or might, only because of the repair. If leaving one out does not save it, because other
// repairs get it deleted in every order of events, it is repaired all the same. protect returns what the cluster's garbage
// collector would do with each object without any repair.
func (r *repairBuilder) protect() map[graph.Node]collector.Consequence {
	unrepaired := map[graph.Node]collector.Consequence{}
	if len(r.wanted) == 0 {
		return unrepaired
	}
	model, without := simulate.NewModel(r.judge, simulate.Cluster), newOutlook(r.judge)
	r.leaveHiddenOwners(without)
	today := without.cluster.result
	for n := range r.wanted {
		unrepaired[n] = consequence(r.graph.Object(n), model.Verdicts(n))
		if today.Deletes(n) && !r.graph.Object(n).Terminating() {
			unrepaired[n] = collector.ConsequenceDelete
		}
	}
	var worst *snapshot.Snapshot // nil if the scan is complete
	var worstWithout outlook
	affected := map[graph.Node]bool{} // deleted in the worst case, and only because of the repair
	if scan := r.graph.Snapshot(); !scan.Complete() {
		worst = worstCase(scan)
		worstWithout = r.simulateRepaired(worst, nil)
	}
	leftOut, forced := map[graph.Node]repairWork{}, map[graph.Node]bool{}
	for round := 1; ; round++ {
		with := r.simulateRepaired(r.graph.Snapshot(), r.wanted)
		lost := r.lost(with.cluster)
		if worst != nil {
			with := r.simulateRepaired(worst, r.wanted)
			for n := range r.wanted {
				affected[n] = affected[n] || today.Terminates(n) == simulate.Never && r.worse(n, worstWithout, with)
			}
		}
		harmed := slices.DeleteFunc(r.nodes(), func(n graph.Node) bool {
			return forced[n] || !affected[n] && !r.worse(n, without, with)
		})
		notSaved := slices.DeleteFunc(slices.Sorted(maps.Keys(leftOut)), func(n graph.Node) bool {
			return !r.worse(n, without, with) || !r.deletes(with, n)
		})
		if len(harmed)+len(notSaved) == 0 || round == maxRounds {
			r.released = r.completedDeletions(today.Model, with.cluster)
			for n := range leftOut {
				r.blocked[n] = append(r.blocked[n], reason.RepairWouldDelete(affected[n]))
			}
			for n, why := range lost {
				r.blocked[n] = append(r.blocked[n], reason.DeletedDespiteRepair(why, forced[n]))
			}
			r.reportDoubts(with.cluster, lost, unrepaired)
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

// leaveHiddenOwners leaves out the repair of objects that refer, or would after the repair, to an owner which has owners itself, and
// which the collector may not have found. It knows an owner by the first reference that it sees: once a wrong one is out of the way,
// it may find the owner, and that it has to go (docs/gc-semantics.md#virtual-owners).
func (r *repairBuilder) leaveHiddenOwners(today outlook) {
	for _, n := range r.nodes() {
		for i, j := range r.judge.Object(n) {
			owner := r.graph.Owners(n)[i]
			of := r.graph.Object(owner)
			switch {
			case r.unwatched(of), of != nil && r.mayBeFound(owner, r.graph.Object(n).Owners[i], n, today):
			case r.unwatched(j.NameHolder):
				of = j.NameHolder
			default:
				continue
			}
			r.blocked[n] = append(r.blocked[n], reason.RepairMayDeleteOwner(of.Identity))
			delete(r.wanted, n)
			break
		}
	}
}

// unwatched reports whether the collector does not watch an object that has owners.
func (r *repairBuilder) unwatched(o *object.Object) bool {
	if o == nil || o.Terminating() || len(o.Owners) == 0 {
		return false
	}
	m, served := r.graph.View().Map(o.APIVersion, o.Kind)
	return served && !m.Type.Monitored()
}

// mayBeFound reports whether the order of events decides about an owner that a reference of n has only the UID of, and that another
// dependent names rightly. Today the collector may never look at it.
func (r *repairBuilder) mayBeFound(owner graph.Node, by object.Reference, n graph.Node, today outlook) bool {
	o := r.graph.Object(owner)
	rightly := func(e graph.Edge) bool {
		return e.Node != n && o.MatchesIdentity(r.graph.Reference(e), r.graph.Object(e.Node).Namespace)
	}
	return !o.MatchesIdentity(by, r.graph.Object(n).Namespace) && slices.ContainsFunc(r.graph.Dependents(owner), rightly) &&
		today.cluster.terminates(o.UID) == simulate.Perhaps
}

// reportDoubts reports the objects that are repaired so that they stay, and that the garbage collector deletes
// all the same in some order of events. lost are those that are reported already.
func (r *repairBuilder) reportDoubts(with builder, lost map[graph.Node]*reason.Reason, unrepaired map[graph.Node]collector.Consequence) {
	for n := range r.wanted {
		if lost[n] != nil || unrepaired[n] != collector.ConsequenceDelete {
			continue
		}
		if m := with.graph.Find(r.graph.UID(n)); with.result.Terminates(m) != simulate.Never {
			r.blocked[n] = append(r.blocked[n], reason.PerhapsDeletedDespiteRepair(with.result.Reason(m)))
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

// outlook is what the cluster's own garbage collector does, and what this program does as the collector.
type outlook struct{ cluster, own builder }

func newOutlook(j *collector.Judge) outlook {
	run := func(p simulate.Predictor) builder {
		return builder{graph: j.Graph(), judge: j, result: simulate.Run(j, p, simulate.Bounds{})}
	}
	return outlook{run(simulate.Cluster), run(simulate.Own)}
}

// simulateRepaired returns the outlook after these repairs of a scan of the same objects. It has its own
// graph, whose nodes of unlisted objects may differ.
func (r *repairBuilder) simulateRepaired(scan *snapshot.Snapshot, repairs map[graph.Node]repairWork) outlook {
	repaired := *scan
	repaired.Objects = slices.Clone(repaired.Objects)
	for n, wanted := range repairs {
		for _, change := range wanted.changes() {
			changed := change.Apply(*repaired.Objects[n])
			repaired.Objects[n] = &changed
		}
	}
	return newOutlook(collector.NewJudge(graph.New(&repaired)))
}

// worse reports whether a repair makes the deletion of an object more certain for either collector.
func (r *repairBuilder) worse(n graph.Node, before, after outlook) bool {
	uid := r.graph.UID(n)
	return after.cluster.terminates(uid) > before.cluster.terminates(uid) || after.own.terminates(uid) > before.own.terminates(uid)
}

// deletes reports whether either collector deletes an object in every order of events.
func (r *repairBuilder) deletes(o outlook, n graph.Node) bool {
	uid := r.graph.UID(n)
	return o.cluster.terminates(uid) == simulate.Always || o.own.terminates(uid) == simulate.Always
}

func (b *builder) terminates(uid types.UID) simulate.Certainty {
	return b.result.Terminates(b.graph.Find(uid))
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
func (r *repairBuilder) lost(with builder) map[graph.Node]*reason.Reason {
	out := map[graph.Node]*reason.Reason{}
	for n := range r.wanted {
		if with.result.Deletes(with.graph.Find(r.graph.UID(n))) && !r.graph.Object(n).Terminating() {
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
