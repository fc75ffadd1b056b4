package plan

import (
	"slices"

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
		spared[n] = collector.Weigh(r.graph.Object(n), model.Verdicts(n)).Of(collector.Dangling)
	}
	now := model.Simulate(collector.Bounds{}).Model
	for n := range r.wanted {
		if goes(now.Object(n)) {
			spared[n] = collector.Delete
		}
	}
	for round := 1; ; round++ {
		lost = r.lost()
		worse := slices.DeleteFunc(r.nodes(), func(n graph.Node) bool { return lost[n] == "" || goes(now.Object(n)) })
		if len(worse) == 0 || round == rounds {
			return spared, lost
		}
		for _, n := range worse {
			delete(r.wanted, n)
			r.blocked[n] = append(r.blocked[n], "is left as it is: mended in part, the collector would delete it, which it does not do now")
		}
	}
}

// goes says whether a model left nothing of an object, or will.
func goes(o *object.Object) bool { return o == nil || o.Terminating() }

// lost are the mended objects that the collector deletes after the repair, and why.
func (r *repair) lost() map[graph.Node]string {
	repaired := *r.graph.Snapshot()
	repaired.Objects = slices.Clone(repaired.Objects)
	for n, wanted := range r.wanted {
		for _, part := range wanted.parts() {
			repaired.Objects[n] = part.change.Apply(repaired.Objects[n])
		}
	}
	g := graph.New(&repaired)
	judge := collector.NewJudge(g)
	then := maker{graph: g, judge: judge, course: collector.NewModel(g, judge).Simulate(collector.Bounds{})}
	out := map[graph.Node]string{}
	for n := range r.wanted {
		if goes(then.course.Model.Object(g.Find(r.graph.UID(n)))) {
			out[n] = "what it is in goes"
		}
	}
	for i := range then.course.Moves {
		m := &then.course.Moves[i]
		if n := r.graph.Find(g.UID(m.Node)); m.Act == collector.Remove && out[n] != "" {
			out[n] = then.step(i).Reason
		}
	}
	return out
}
