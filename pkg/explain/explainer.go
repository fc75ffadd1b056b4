package explain

import (
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// Explainer explains objects of one scan. It is not safe for concurrent use.
type Explainer struct {
	graph   *graph.Graph
	judge   *collector.Judge
	planner *repair.Planner
	initial *simulate.Model      // the scanned state
	result  *simulate.Prediction // of everything that the garbage collector does with it

	transitions map[graph.Node][]int        // indexes into result.Transitions
	holds       *terminating.Diagnoser      // of the scanned state
	cycles      map[graph.Node][]graph.Node // members of each node's cycle; nil until first used

	// StuckAfter is how long a deletion takes that is worth a remark.
	StuckAfter time.Duration
	// OnlyDeletions makes the answer about an object that is not being deleted say that, and suggest no deletion.
	OnlyDeletions bool
}

// NewExplainer simulates the garbage collector on the scanned objects.
func NewExplainer(judge *collector.Judge) *Explainer {
	e := &Explainer{
		graph: judge.Graph(), judge: judge, planner: repair.New(judge),
		initial: simulate.NewModel(judge, simulate.Cluster), result: simulate.Run(judge, simulate.Cluster, simulate.Bounds{}),
		transitions: map[graph.Node][]int{}, StuckAfter: terminating.DefaultStuckAfter,
	}
	for i := range e.result.Transitions {
		n := e.result.Transitions[i].Node
		e.transitions[n] = append(e.transitions[n], i)
	}
	e.holds = terminating.New(e.initial, func() *simulate.Model { return e.result.Model })
	return e
}

// Explanation returns the document of the answers.
func (e *Explainer) Explanation(answers []*Answer) *Explanation {
	s := e.graph.Snapshot()
	return &Explanation{Complete: s.Complete(), Gaps: append([]snapshot.Gap{}, s.Gaps...), Answers: append([]*Answer{}, answers...)}
}

// Object explains an object of the scan. history is what the cluster's Events report about it.
func (e *Explainer) Object(n graph.Node, history EventHistory) *Answer {
	o := e.graph.Object(n)
	b := &answerBuilder{
		Explainer: e, answer: newAnswer(o.Identity), node: n, object: o,
		container: e.graph.ContainerOf(o), judgements: e.judge.Object(n), repairs: e.planner.Object(n),
	}
	b.assessment = collector.Assess(o, collector.Verdicts(b.judgements))
	for i := range b.judgements {
		b.answer.References = append(b.answer.References, b.reference(i))
	}
	for _, f := range e.holds.Finalizers(o.Finalizers, o.Identity) {
		if !o.Terminating() {
			f.Traces = nil
		}
		b.answer.Finalizers = append(b.answer.Finalizers, Finalizer{Finalizer: f, WrittenBy: []object.Write{}})
	}
	b.conditions()
	b.refusals()
	if o.Terminating() {
		b.answer.State = Terminating
		b.terminating()
	} else {
		b.answer.State = Alive
		b.alive()
	}
	b.answer.Nondeterministic = b.nondeterministic()
	b.addCascade()
	b.irreversible()
	b.podsOfNode()
	by, notRunning, lost := b.result.Model.Replacement(o, func(i int) collector.Verdict { return b.judgements[i].Verdict })
	switch {
	case b.container != nil || e.OnlyDeletions:
	case by != nil && !notRunning:
		b.answer.ManagedBy = reason.ControllerReplaces(*by)
	case lost != nil:
		b.answer.ManagedBy = lost
	}
	b.previousIncarnations()
	b.answer.Events = b.events(history)
	b.caveats()
	if e.OnlyDeletions && !o.Terminating() {
		b.notDeleted()
	}
	return b.answer
}

// notDeleted makes the answer about the object's deletion: there is none.
func (b *answerBuilder) notDeleted() {
	a := b.answer
	a.Next, a.Suggestions, a.Cascade = []string{}, []reason.Suggestion{}, nil
	if a.Consequence != collector.ConsequenceNone {
		a.next(a.Headline)
		a.suggest("see why", b.command("why", b.object.Identity)...)
	}
	a.Headline = b.object.String() + " is not being deleted"
	inside := 0
	for n := range b.graph.Listed() {
		if o := b.graph.Object(graph.Node(n)); b.object.IsNamespace() && o.Namespace == b.object.Name && o.Terminating() {
			inside++
		}
	}
	if inside > 0 {
		a.Headline += plural(inside, ", but 1 object in it is", fmt.Sprintf(", but %d objects in it are", inside))
		a.suggest("see what holds "+plural(inside, "it", "them"), plugin.Line("stuck", "-n", b.object.Name)...)
	}
	a.Headline += "."
}

// answerBuilder writes the answer about one object.
type answerBuilder struct {
	*Explainer

	answer     *Answer
	node       graph.Node
	object     *object.Object
	container  *object.Object        // see graph.ContainerOf
	judgements []collector.Judgement // per reference
	repairs    []repair.Repair       // per reference
	assessment collector.Assessment
}

// nondeterministic returns why the order of events decides whether the consequence comes about,
// or nil if it does not.
func (b *answerBuilder) nondeterministic() *reason.Reason {
	result, uncertain := b.result, false
	_, pending := b.result.ContentsPending[b.node]
	switch c := b.answer.Consequence; {
	case c == collector.ConsequenceUnknown || pending || b.container != nil:
	case b.object.IsNamespace() && b.object.Terminating() && !b.object.HasCollectorFinalizer(): // only others decide
	case b.object.Terminating() && c == collector.ConsequenceDelete:
		uncertain = result.Vanishes(b.node) != simulate.Always
	case b.object.Terminating():
		uncertain = c != collector.ConsequenceNone && result.Nondeterministic(b.node)
	case c == collector.ConsequenceDelete:
		uncertain = result.Terminates(b.node) != simulate.Always
	default:
		uncertain = result.Terminates(b.node) != simulate.Never || result.Nondeterministic(b.node)
	}
	if !uncertain {
		return nil
	}
	return result.Reason(b.node)
}

func newAnswer(i object.Identity) *Answer {
	return &Answer{
		Object: i, References: []ExplainedReference{}, Finalizers: []Finalizer{}, Conditions: []Condition{}, Next: []string{}, WaitsFor: []Link{},
		Suggestions: []reason.Suggestion{}, ReferencedBy: []Referrer{}, Events: []object.ClusterEvent{}, Caveats: []string{},
	}
}

func (a *Answer) say(c collector.Consequence, headline string, args ...any) {
	a.Consequence, a.Headline = c, fmt.Sprintf(headline, args...)
}

func (a *Answer) nextf(sentence string, args ...any) { a.next(fmt.Sprintf(sentence, args...)) }

func (a *Answer) next(sentences ...string) { a.Next = append(a.Next, sentences...) }

func (a *Answer) suggest(sentence string, command ...string) {
	a.Suggestions = append(a.Suggestions, reason.Suggestion{Sentence: sentence, Command: append([]string{}, command...)})
}

// firstTransition returns the first transition of a node by an action, or nil.
func (e *Explainer) firstTransition(n graph.Node, action collector.Action) *simulate.Transition {
	for _, i := range e.transitions[n] {
		if t := &e.result.Transitions[i]; t.Action == action {
			return t
		}
	}
	return nil
}
