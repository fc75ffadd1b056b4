package explain

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// View is one look, with what the collector makes of it to its end: prepared to
// be asked about any number of objects.
type View struct {
	graph  *graph.Graph
	judge  *collector.Judge
	mender *repair.Mender
	now    *collector.Model  // as the look saw things
	course *collector.Course // what the collector makes of that
	moves  map[graph.Node][]int

	before, after *audit.Hindrances
	circles       map[graph.Node][]graph.Node // nil until somebody asks
}

// NewView foretells what the collector does with everything that the graph shows.
func NewView(g *graph.Graph) *View {
	judge := collector.NewJudge(g)
	v := &View{
		graph: g, judge: judge, mender: repair.New(g, judge),
		now: collector.NewModel(g, judge), course: collector.NewModel(g, judge).Simulate(collector.Bounds{}),
		moves: map[graph.Node][]int{},
	}
	for i := range v.course.Moves {
		n := v.course.Moves[i].Node
		v.moves[n] = append(v.moves[n], i)
	}
	v.before = audit.NewHindrances(judge, v.now)
	v.after = audit.NewHindrances(judge, v.course.Model)
	return v
}

// Explain is the document of these answers.
func (v *View) Explain(answers []*Answer) *Explanation {
	s := v.graph.Snapshot()
	return &Explanation{Complete: s.Complete(), Gaps: append([]snapshot.Gap{}, s.Gaps...), Answers: append([]*Answer{}, answers...)}
}

// Of explains an object that was seen. told is what the Events say about it.
func (v *View) Of(n graph.Node, told Told) *Answer {
	s := &subject{View: v, node: n, object: v.graph.Object(n), judged: v.judge.Object(n), mends: v.mender.Object(n), Answer: newAnswer(v.graph.Object(n).Identity)}
	s.outlook = collector.Weigh(s.object, collector.Verdicts(s.judged))
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
	*View
	*Answer
	node    graph.Node
	object  *object.Object
	judged  []collector.Judgement
	mends   []repair.Mend
	outlook collector.Outlook
}

func newAnswer(i object.Identity) *Answer {
	return &Answer{
		Object: i, References: []Reference{}, Finalizers: []Finalizer{}, Next: []string{}, WaitsFor: []Link{},
		Suggestions: []Remedy{}, ReferencedBy: []Namer{}, Events: []Event{}, Caveats: []string{},
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
func (v *View) first(n graph.Node, act collector.Act) *collector.Move {
	for _, i := range v.moves[n] {
		if m := &v.course.Moves[i]; m.Act == act {
			return m
		}
	}
	return nil
}
