package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// rounds bounds how often a repair is foretold anew because something is left out
// of it. What is lost after that is said to be.
const rounds = 5

// foretell says what the collector would do with each mended object without the
// repair, and why it deletes some in spite of it. An object that it would delete
// because of the repair alone is left as it is.
func (r *repair) foretell() (spared map[graph.Node]collector.Consequence, lost map[graph.Node]string) {
	spared, lost = map[graph.Node]collector.Consequence{}, map[graph.Node]string{}
	if len(r.wanted) == 0 {
		return spared, lost
	}
	model := collector.NewModel(r.graph, r.judge)
	for n := range r.wanted {
		spared[n] = consequence(r.graph.Object(n), model.Verdicts(n))
	}
	now := model.Simulate(collector.Bounds{}).Model
	for n := range r.wanted {
		if goes(now.Object(n)) && !r.graph.Object(n).Terminating() {
			spared[n] = collector.Delete
		}
	}
	for round := 1; ; round++ {
		then := r.afterwards()
		lost = r.lost(then)
		worse := slices.DeleteFunc(r.nodes(), func(n graph.Node) bool { return lost[n] == "" || goes(now.Object(n)) })
		if len(worse) == 0 || round == rounds {
			r.released = r.ends(now, then)
			return spared, lost
		}
		for _, n := range worse {
			delete(r.wanted, n)
			r.blocked[n] = append(r.blocked[n], "is left as it is: mended in part, the collector would delete it, which it does not do now")
		}
	}
}

// consequence is what the collector does with an object because of the references
// that do not hold, all of them together.
func consequence(o *object.Object, verdicts []collector.Verdict) collector.Consequence {
	for _, v := range verdicts {
		if v != collector.Solid {
			return collector.Weigh(o, verdicts).Of(v)
		}
	}
	return collector.None
}

// goes says whether a model left nothing of an object, or will.
func goes(o *object.Object) bool { return o == nil || o.Terminating() }

// ends are the owners whose deletion is under way and comes to its end because of
// the repair alone.
func (r *repair) ends(now *collector.Model, then maker) map[types.UID]bool {
	out := map[types.UID]bool{}
	for n := range r.graph.Listed() {
		node := graph.Node(n)
		if o := r.graph.Object(node); o.Terminating() && now.Object(node) != nil && then.course.Model.Object(then.graph.Find(o.UID)) == nil {
			out[o.UID] = true
		}
	}
	return out
}

// afterwards is what the collector does after the repair.
func (r *repair) afterwards() maker {
	repaired := *r.graph.Snapshot()
	repaired.Objects = slices.Clone(repaired.Objects)
	for n, wanted := range r.wanted {
		for _, part := range wanted.parts() {
			changed := part.change.Apply(*repaired.Objects[n])
			repaired.Objects[n] = &changed
		}
	}
	g := graph.New(&repaired)
	judge := collector.NewJudge(g)
	return maker{graph: g, judge: judge, course: collector.NewModel(g, judge).Simulate(collector.Bounds{})}
}

// lost are the mended objects that the collector deletes after the repair, and why.
func (r *repair) lost(then maker) map[graph.Node]string {
	out := map[graph.Node]string{}
	for n := range r.wanted {
		if goes(then.course.Model.Object(then.graph.Find(r.graph.UID(n)))) && !r.graph.Object(n).Terminating() {
			out[n] = "what it is in goes"
		}
	}
	for i := range then.course.Moves {
		m := &then.course.Moves[i]
		if n := r.graph.Find(then.graph.UID(m.Node)); m.Act == collector.Remove && out[n] != "" {
			out[n] = then.step(i).Reason
		}
	}
	return out
}
