package explain

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// caveats adds what weakens the answer about an existing object, but that the server's version may
// be unknown, which concerns every answer.
func (b *answerBuilder) caveats() {
	b.incomplete(b.answer, "more objects may depend on it or block it")
	if b.graph.Virtual(b.node) && !b.unmonitored() {
		b.answer.Caveats = append(b.answer.Caveats, "This tool could not list objects of its type, and read only this one, by name.")
	}
	server, behavior := b.graph.Snapshot().Server, b.judge.Behavior()
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
			names = append(names, fmt.Sprintf("%s (%s)", g, g.Why()))
		}
	}
	if elsewhere {
		names = append(names, "other namespaces")
	}
	switch {
	case len(names) > 0:
		a.Caveats = append(a.Caveats, fmt.Sprintf("This tool could not read everything, so %s. Not read: %s.", meaning, list(names)))
	case !e.initial.Complete(""):
		a.Caveats = append(a.Caveats, fmt.Sprintf("This tool did not scan everything, so %s.", meaning))
	}
}
