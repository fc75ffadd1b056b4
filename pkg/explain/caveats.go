package explain

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// caveats adds what weakens the answer about an existing object, and what differs on a
// server of this version.
func (b *builder) caveats() {
	b.explainer.incomplete(b.answer, "more objects than are named here may depend on it or block it")
	if b.graph.Virtual(b.node) && !b.unmonitored() {
		b.answer.Caveats = append(b.answer.Caveats, "Objects of its type could not be listed; this tool read only this one, by name.")
	}
	server, behavior := b.graph.Snapshot().Server, b.explainer.judge.Behavior()
	if assumed := behavior.Assumption(); assumed != nil {
		b.answer.Caveats = append(b.answer.Caveats, capitalized(assumed.Message())+".")
	}
	if !behavior.IdentityAwareOwners {
		b.before120(server)
	}
	broken := func(g snapshot.Gap) bool { return g.Reason == snapshot.Webhook && g.Resource != snapshot.All }
	if i := slices.IndexFunc(b.graph.Snapshot().Gaps, broken); i >= 0 && !behavior.StartsWithUnsyncedTypes && b.answer.Consequence != collector.ConsequenceNone {
		b.answer.Caveats = append(b.answer.Caveats, fmt.Sprintf("This server is %s: before 1.32 the garbage collector stops while it cannot list a type, and here it cannot list %s.", server, b.graph.Snapshot().Gaps[i]))
	}
}

// incomplete names what could not be read, and says what that may mean.
func (e *Explainer) incomplete(a *Answer, meaning string) {
	var names []string
	elsewhere := false
	for _, g := range e.graph.Snapshot().Gaps {
		if elsewhere = elsewhere || g.Namespace == snapshot.All; g.Namespace != snapshot.All {
			names = append(names, fmt.Sprintf("%s (%s)", g, g.Reason))
		}
	}
	if elsewhere {
		names = append(names, "other namespaces")
	}
	switch {
	case len(names) > 0:
		a.Caveats = append(a.Caveats, fmt.Sprintf("Not everything could be read, so %s. Not read: %s.", meaning, list(names)))
	case !e.initial.Complete():
		a.Caveats = append(a.Caveats, fmt.Sprintf("Not everything was scanned, so %s.", meaning))
	}
}

// before120 warns of collectors before 1.20 (docs/gc-semantics.md#versions): they
// identified objects by UID alone, and requested a namespaced owner of a cluster-scoped
// object without a namespace.
func (b *builder) before120(server string) {
	for i, j := range b.judgements {
		if j.Cause == collector.CauseClusterToNamespaced {
			b.answer.Caveats = append(b.answer.Caveats, fmt.Sprintf("This server is %s: before 1.20 the garbage collector deletes such an object. Remove the reference to %s.", server, b.object.Owners[i]))
			return
		}
	}
	seen := map[graph.Node]bool{}
	for i, j := range b.judgements {
		if j.Cause == collector.CauseCrossNamespace {
			b.answer.Caveats = append(b.answer.Caveats, fmt.Sprintf("This server is %s: before 1.20 the garbage collector notices this at an unpredictable time, often at the next restart of the controller manager; it may then also delete the valid dependents of %s.", server, b.object.Owners[i]))
			return
		}
		owner := b.graph.Owners(b.node)[i]
		if j.Verdict != collector.VerdictSolid || seen[owner] {
			continue
		}
		seen[owner] = true
		for _, e := range b.graph.Dependents(owner) {
			if e.Node != b.node && b.explainer.judge.Reference(e).Cause == collector.CauseCrossNamespace {
				b.answer.Caveats = append(b.answer.Caveats, fmt.Sprintf("This server is %s: before 1.20, because of one invalid reference, the garbage collector can also delete the valid dependents of the same owner, and %s names %s from another namespace.", server, b.name(e.Node), b.object.Owners[i]))
				return
			}
		}
	}
}
