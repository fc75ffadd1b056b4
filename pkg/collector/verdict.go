package collector

import (
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Verdict is what the collector makes of one owner reference
// (docs/gc-semantics.md#verdicts). The words are part of the JSON contract.
type Verdict string

// The verdicts. The last three are errors to the collector: any one of them
// makes it leave the whole object alone
// (docs/gc-semantics.md#one-error-keeps-the-object).
const (
	Solid        Verdict = "solid"
	Dangling     Verdict = "dangling"
	Waiting      Verdict = "waiting"      // the owner waits for its dependents (foreground)
	Unresolvable Verdict = "unresolvable" // the kind maps to nothing served
	ScopeError   Verdict = "scope-error"  // a cluster-scoped dependent of a namespaced kind
	Unknown      Verdict = "unknown"      // not proven either way
)

// VerdictCause is why a verdict is not plainly solid. Each is an audit rule's reason
// to speak, and at most one holds for a reference.
type VerdictCause int

// The causes, in the order in which the first that fits is named.
const (
	NoCause VerdictCause = iota
	Unverified
	ClusterToNamespaced
	UnservedVersion
	UnknownKind
	CrossNamespace
	Mismatched
	Replaced
	Missing
	Terminating
)

// Judgement is the verdict on one reference with its evidence.
type Judgement struct {
	Verdict Verdict
	Cause   VerdictCause

	// Mapping is where the reference's kind leads; the zero value where it
	// leads nowhere.
	Mapping snapshot.Mapping
	// Holder is the object that bears the reference's UID, wherever it lives;
	// nil where none was seen.
	Holder *object.Object
	// Resident is the object at the reference's coordinates when it has
	// another UID; nil where there is none or none was seen.
	Resident *object.Object
	// Served are the versions in which the kind is served, preferred first,
	// where the reference's own is not.
	Served []string
	// Gap or Lookup is what kept the owner from being verified; both nil
	// unless the verdict is Unknown, and both nil where nobody looked.
	Gap    *snapshot.Gap
	Lookup *snapshot.Lookup
}

// Verdicts are those of the judgements.
func Verdicts(judgements []Judgement) []Verdict {
	out := make([]Verdict, len(judgements))
	for i, j := range judgements {
		out[i] = j.Verdict
	}
	return out
}

// Withheld says that the collector takes the owner for absent only because of a
// kind such as PodList, which maps to a resource that nothing serves: most
// likely a slip of the pen, for which nothing of ours deletes anything
// (docs/gc-semantics.md#kind-spelling).
func (j Judgement) Withheld() bool {
	return j.Verdict == Dangling && j.Mapping.Spelling == snapshot.ListKind
}

// Bad says whether the owner is not one to the collector, now or for good.
func (j Judgement) Bad() bool { return j.Cause != NoCause && j.Cause != Terminating }

// Unmonitored says that the owner is of a kind the collector does not watch, so
// that it is polled instead (docs/gc-semantics.md#virtual-owners).
func (j Judgement) Unmonitored() bool {
	return j.Mapping.Served && j.Mapping.Type.Resource != "" && !j.monitored()
}

func (j Judgement) monitored() bool {
	t := j.Mapping.Type
	t.Preferred = true // a served version that is not the preferred one names the same objects
	return t.Monitored()
}

// Judge judges the references of one graph. It is safe for concurrent use.
type Judge struct {
	graph         *graph.Graph
	view          *snapshot.View
	byCoordinates func() map[home]*object.Object // by coordinates; made when something is asked for that no lookup tells
}

// home is where an object lives, whatever the version.
type home struct{ group, resource, namespace, name string }

// NewJudge prepares to judge the references of g.
func NewJudge(g *graph.Graph) *Judge {
	return &Judge{graph: g, view: g.View(), byCoordinates: sync.OnceValue(func() map[home]*object.Object { return homes(g) })}
}

// homes indexes the listed objects by coordinates: only those that a reference
// leads to, or would in a served version, which neither the list nor a lookup
// proves, so mostly none.
func homes(g *graph.Graph) map[home]*object.Object {
	out := map[home]*object.Object{}
	view := g.View()
	for n := graph.Node(0); g.Object(n) != nil; n++ {
		o := g.Object(n)
		for i, r := range o.Owners {
			if owner := g.Object(g.Owners(n)[i]); owner != nil && owner.MatchesIdentity(r, o.Namespace) {
				continue
			}
			r, _ = view.WithServedVersion(r)
			if m, c, ok := view.CoordinatesOf(o.Namespace, r); ok && view.Lookup(c) == nil {
				out[homeOf(m, c)] = nil
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	settle := func(i object.Identity, o *object.Object) {
		if m, ok := view.Map(i.APIVersion, i.Kind); ok {
			h := home{m.Type.Group, m.Type.Resource, i.Namespace, i.Name}
			if _, wanted := out[h]; wanted {
				out[h] = o
			}
		}
	}
	for n := range g.Listed() {
		o := g.Object(graph.Node(n))
		settle(o.Identity, o)
		for _, alias := range o.Aliases {
			settle(alias, o)
		}
	}
	return out
}

func homeOf(m snapshot.Mapping, c snapshot.Coordinates) home {
	return home{m.Type.Group, m.Type.Resource, c.Namespace, c.Name}
}
