package simulate

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// NewActorModel is the state that the graph shows, to be moved on by that hand.
func NewActorModel(g *graph.Graph, j *collector.Judge, hand collector.Actor) *Model {
	m := newModel(g, j)
	m.actor = hand
	m.whole = m.whole || hand == collector.ActorControllerManager
	return m
}

// NewApplyModel returns a model of what this program does itself. Unlike one that only
// predicts what a collector does, it keeps a Namespace or CustomResourceDefinition whose
// contents were not all listed. Gaps that a person accepted hide neither contents nor
// dependents.
func NewApplyModel(g *graph.Graph, j *collector.Judge, accepted snapshot.AcceptedGaps) *Model {
	m := NewActorModel(g, j, collector.ActorClient)
	m.acting, m.accepted, m.hidden = true, accepted, map[graph.Node]bool{}
	m.whole = wholeView(g, accepted)
	return m
}

// NewModel is the state that the graph shows, to be moved on by Ours.
func NewModel(g *graph.Graph, j *collector.Judge) *Model {
	return NewActorModel(g, j, collector.ActorClient)
}
