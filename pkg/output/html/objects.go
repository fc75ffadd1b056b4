package html

import (
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
)

// objects has a place for each node of the graph that was seen, in its order. Behind
// them come the UIDs that nothing showed.
type objects struct {
	Listed    int      `json:"listed"` // those behind were only looked up
	Name      []string `json:"name"`
	Kind      []int    `json:"kind"`      // in Kinds
	Namespace []int    `json:"namespace"` // in Texts
	Age       []int    `json:"age"`       // in Texts
	UID       []string `json:"uid"`       // of the absent ones, too
	Owners    []int    `json:"owners"`    // how many references each has
	Fate      []int    `json:"fate"`      // in Fates, or -1
	// Of few objects, their place first: a note of texts, and finalizers of texts.
	Ending     [][]int `json:"ending"`
	Finalizers [][]int `json:"finalizers"`
}

type kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Word       string `json:"word"` // on a command line
}

// fate is what a pass of the collector makes of an object.
type fate struct {
	Tone   string `json:"tone"`   // goes, changes, waits or stays
	Action string `json:"action"` // of the collector; empty where others do it
	Why    string `json:"why"`
}

// none is no place in a column.
const none = -1

func (b *builder) objects() objects {
	seen := 0
	for b.Graph.Object(graph.Node(seen)) != nil {
		seen++
	}
	all := objects{
		Listed: b.Graph.Listed(), Name: make([]string, seen), Kind: make([]int, seen), Namespace: make([]int, seen), Age: make([]int, seen),
		UID: make([]string, b.Graph.Len()), Owners: make([]int, seen), Fate: make([]int, seen), Ending: [][]int{}, Finalizers: [][]int{},
	}
	taken := b.Graph.Snapshot().Taken
	for i := range seen {
		o := b.Graph.Object(graph.Node(i))
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
		all.Fate[i] = b.unmoved(graph.Node(i), o)
	}
	for i := seen; i < b.Graph.Len(); i++ {
		all.UID[i] = name(string(b.Graph.UID(graph.Node(i))))
	}
	told := graph.NewSet(b.Graph)
	for _, r := range planview.Rows(b.Pass) { // the first line of an object says most
		if n := b.Graph.Find(r.Object.UID); r.Object.UID != "" && n != graph.None && told.Add(n) {
			all.Fate[n] = b.fate(fate{tone(r), r.Label, r.Why})
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
		b.doc.Kinds = append(b.doc.Kinds, kind{name(apiVersion), name(of), name(explain.TypeArgument(b.Graph, apiVersion, of))})
	}
	return at
}

func (b *builder) fate(f fate) int {
	at, known := b.fates[f]
	if !known {
		at = len(b.doc.Fates)
		b.fates[f] = at
		b.doc.Fates = append(b.doc.Fates, f)
	}
	return at
}

// unmoved is the fate of an object on which there is no step: it goes with what holds it,
// or every owner keeps it. Of others the findings tell.
func (b *builder) unmoved(n graph.Node, o *object.Object) int {
	if int(n) >= b.Graph.Listed() || o.Terminating() {
		return none
	}
	if c := b.container(o); c != nil {
		return b.fate(fate{"goes", "", sentence(explain.DeletedWith(c))})
	}
	for i := range o.Owners {
		if j := b.judge.Reference(graph.Edge{Node: n, Index: i}); !plain(j) {
			return none
		}
	}
	return b.fate(fate{"stays", "keep", sentence(explain.KeptReason(o.Owners))})
}

// container is the namespace or definition of an object that is being deleted, or nil.
func (b *builder) container(o *object.Object) *object.Object {
	key := [3]string{o.Namespace, o.APIVersion, o.Kind} // one answer for all of a kind in a namespace
	found, known := b.containers[key]
	if !known {
		for _, c := range b.emptying {
			if explain.Contains(b.Graph, c, o) {
				found = c
				break
			}
		}
		b.containers[key] = found
	}
	return found
}
