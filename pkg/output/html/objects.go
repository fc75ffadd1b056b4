package html

import (
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
)

// objects has an entry for each object of the graph in every list. UID has more: those of
// owners that were not read.
type objects struct {
	Listed    int      `json:"listed"` // how many were listed; the others were only looked up
	Name      []string `json:"name"`
	Kind      []int    `json:"kind"`      // in Kinds
	Namespace []int    `json:"namespace"` // in Texts
	Age       []int    `json:"age"`       // in Texts
	UID       []string `json:"uid"`       // of the absent ones, too
	Owners    []int    `json:"owners"`    // how many references each has
	Outcome   []int    `json:"fate"`      // in Outcomes, or -1
	// Per object that has any: its index, then a note or finalizers, in Texts.
	Ending     [][]int `json:"ending"`
	Finalizers [][]int `json:"finalizers"`
}

type kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Word       string `json:"word"` // on a command line
}

// outcome is what a collection does with an object.
type outcome struct {
	Tone   string `json:"tone"`   // goes, changes, waits or stays
	Action string `json:"action"` // of the garbage collector; empty if others do it
	Why    string `json:"why"`
}

// none is no index in a list.
const none = -1

func (b *builder) objects() objects {
	seen := 0
	for b.graph.Object(graph.Node(seen)) != nil {
		seen++
	}
	all := objects{
		Listed: b.graph.Listed(), Name: make([]string, seen), Kind: make([]int, seen), Namespace: make([]int, seen), Age: make([]int, seen),
		UID: make([]string, b.graph.Len()), Owners: make([]int, seen), Outcome: make([]int, seen), Ending: [][]int{}, Finalizers: [][]int{},
	}
	taken := b.graph.Snapshot().Taken
	for i := range seen {
		o := b.graph.Object(graph.Node(i))
		all.Name[i], all.UID[i], all.Owners[i] = name(o.Name), name(string(o.UID)), len(o.Owners)
		all.Kind[i], all.Namespace[i] = b.kind(o.APIVersion, o.Kind), b.texts.of(o.Namespace, nameWidth)
		if !o.Created.IsZero() {
			all.Age[i] = b.texts.escaped(duration.HumanDuration(taken.Sub(o.Created)))
		}
		if o.Terminating() {
			all.Ending = append(all.Ending, []int{i, b.texts.of(tree.Terminating(o, taken), sentenceWidth)})
		}
		if len(o.Finalizers) > 0 {
			held := []int{i}
			for _, f := range o.Finalizers {
				held = append(held, b.texts.of(f, nameWidth))
			}
			all.Finalizers = append(all.Finalizers, held)
		}
		all.Outcome[i] = b.unchanged(graph.Node(i), o)
	}
	for i := seen; i < b.graph.Len(); i++ {
		all.UID[i] = name(string(b.graph.UID(graph.Node(i))))
	}
	shown := graph.NewSet(b.graph)
	for _, r := range planview.Rows(b.page.Pass) { // the first line of an object says most
		if n := b.graph.Find(r.Object.UID); r.Object.UID != "" && n != graph.None && shown.Add(n) {
			all.Outcome[n] = b.outcome(outcome{tone(r), r.Label, r.Why})
		}
	}
	return all
}

func (b *builder) kind(apiVersion, of string) int {
	key := [2]string{apiVersion, of}
	at, known := b.kinds[key]
	if !known {
		at = len(b.doc.Kinds)
		b.kinds[key] = at
		b.doc.Kinds = append(b.doc.Kinds, kind{name(apiVersion), name(of), name(explain.TypeArgument(b.graph, apiVersion, of))})
	}
	return at
}

func (b *builder) outcome(f outcome) int {
	at, known := b.outcomes[f]
	if !known {
		at = len(b.doc.Outcomes)
		b.outcomes[f] = at
		b.doc.Outcomes = append(b.doc.Outcomes, f)
	}
	return at
}

// unchanged returns the outcome of an object without a step: it is deleted with its
// namespace or definition, or all its owners exist. The findings cover all others.
func (b *builder) unchanged(n graph.Node, o *object.Object) int {
	if int(n) >= b.graph.Listed() || o.Terminating() {
		return none
	}
	if c := b.container(o); c != nil {
		return b.outcome(outcome{"goes", "", sentence(explain.DeletedWith(c))})
	}
	for i := range o.Owners {
		if j := b.judge.Reference(graph.Edge{Node: n, Index: i}); !plain(j) {
			return none
		}
	}
	return b.outcome(outcome{"stays", "keep", sentence(explain.KeptReason(o.Owners))})
}

// container returns the namespace or definition of an object if it is being deleted, or
// nil.
func (b *builder) container(o *object.Object) *object.Object {
	key := [3]string{o.Namespace, o.APIVersion, o.Kind} // the same for all objects of a kind in a namespace
	found, known := b.containers[key]
	if !known {
		for _, c := range b.terminating {
			if b.graph.View().Contains(c.Identity, o) {
				found = c
				break
			}
		}
		b.containers[key] = found
	}
	return found
}
