package explain

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Explainer is one look, with what the collector makes of it to its end: prepared to
// be asked about any number of objects.
type Explainer struct {
	graph  *graph.Graph
	judge  *collector.Judge
	mender *repair.Planner
	now    *simulate.Model  // as the look saw things
	course *simulate.Result // what the collector makes of that
	moves  map[graph.Node][]int

	before, after *audit.Blockers
	circles       map[graph.Node][]graph.Node // nil until somebody asks
}

// NewExplainer foretells what the collector does with everything that the graph shows.
func NewExplainer(g *graph.Graph) *Explainer {
	judge := collector.NewJudge(g)
	v := &Explainer{
		graph: g, judge: judge, mender: repair.New(g, judge),
		now: simulate.NewModel(g, judge), course: simulate.NewModel(g, judge).Simulate(simulate.Bounds{}),
		moves: map[graph.Node][]int{},
	}
	for i := range v.course.Transitions {
		n := v.course.Transitions[i].Node
		v.moves[n] = append(v.moves[n], i)
	}
	v.before = audit.NewBlockers(judge, v.now)
	v.after = audit.NewBlockers(judge, v.course.Model)
	return v
}

// Explain is the document of these answers.
func (v *Explainer) Explain(answers []*Answer) *Explanation {
	s := v.graph.Snapshot()
	return &Explanation{Complete: s.Complete(), Gaps: append([]snapshot.Gap{}, s.Gaps...), Answers: append([]*Answer{}, answers...)}
}

// Of explains an object that was seen. told is what the Events say about it.
func (v *Explainer) Of(n graph.Node, told EventHistory) *Answer {
	s := &subject{Explainer: v, node: n, object: v.graph.Object(n), judged: v.judge.Object(n), mends: v.mender.Object(n), Answer: newAnswer(v.graph.Object(n).Identity)}
	s.outlook = collector.Assess(s.object, collector.Verdicts(s.judged))
	for i := range s.judged {
		s.References = append(s.References, s.reference(i))
	}
	for _, f := range s.object.Finalizers {
		s.Finalizers = append(s.Finalizers, Finalizer{Name: f, Controller: whose(f)})
	}
	if s.object.Terminating() {
		s.State = Terminating
		s.terminating()
	} else {
		s.State = Alive
		s.alive()
	}
	s.goesAlong()
	s.predecessors()
	s.Events = s.notices(told)
	s.caveats()
	return s.Answer
}

// subject is an object that is being explained.
type subject struct {
	*Explainer
	*Answer
	node    graph.Node
	object  *object.Object
	judged  []collector.Judgement
	mends   []repair.Repair
	outlook collector.Assessment
}

func newAnswer(i object.Identity) *Answer {
	return &Answer{
		Object: i, References: []Reference{}, Finalizers: []Finalizer{}, Next: []string{}, WaitsFor: []Link{},
		Suggestions: []Remedy{}, ReferencedBy: []Referrer{}, Events: []Event{}, Caveats: []string{},
	}
}

func (a *Answer) say(c collector.Consequence, headline string) {
	a.Consequence, a.Headline = c, headline
}

func (a *Answer) next(sentences ...string) { a.Next = append(a.Next, sentences...) }

func (a *Answer) remedy(sentence string, command ...string) {
	a.Suggestions = append(a.Suggestions, Remedy{sentence, append([]string{}, command...)})
}

// first is the first move of an act on a node, or nil.
func (v *Explainer) first(n graph.Node, act collector.Action) *simulate.Transition {
	for _, i := range v.moves[n] {
		if m := &v.course.Transitions[i]; m.Action == act {
			return m
		}
	}
	return nil
}
