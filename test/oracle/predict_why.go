package oracle

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// PredictWhy returns what `why` says about the end of a scenario without deletions. The
// consequence is that of all references together, and the headline follows from it:
//
//   - of an object that is not terminating, delete: it is deleted or terminating; unlink: it is
//     neither, and has fewer references; none and stuck: it is neither, and keeps them all.
//   - of a terminating object, delete: it is gone; stuck: it is not; unlink: it is gone or lacks
//     a reference; none: nothing, since others have to complete the deletion.
//   - unknown: nothing.
//
// If the object's container was being deleted before, the headline says that the object is
// deleted with it, whatever the consequence is. One that says that Pods go first makes no claim
// about when. An answer that is nondeterministic has that reserve.
func PredictWhy(s scenario.Scenario) []Prediction {
	g := graph.New(Scan(s))
	explainer := explain.NewExplainer(collector.NewJudge(g))
	objects := byUID(s.Objects)
	var out []Prediction
	for i := range s.Objects {
		o := &s.Objects[i]
		n := g.Find(o.UID)
		if g.Object(n) == nil {
			continue // no scan shows it
		}
		answer := explainer.Object(n, explain.EventHistory{})
		p := Prediction{
			Command: "why", Aspect: "consequence", Object: o.UID, Said: string(answer.Consequence) + ": " + answer.Headline, None: Wrong, Some: FalselyCertain,
			Describe: func(e End) string { return describe(e.Object(o.UID)) },
		}
		deletedWith := slices.ContainsFunc(containers(s, o), func(c types.UID) bool { return objects[c].DeletionTimestamp != nil })
		switch {
		case deletedWith && !g.Virtual(n):
			p.Holds = func(e End) bool { return e.Deleted(o.UID) }
		case answer.State == explain.Alive:
			p.Holds = holdsForLiving(o, answer.Consequence)
		default:
			p.Holds = holdsForTerminating(o, answer.Consequence)
		}
		switch {
		case answer.Nondeterministic != nil:
			p.Reserve = Nondeterministic
		case strings.Contains(answer.Headline, "once no Pod is left"):
			p.Reserve = Later
			p.None = ""
		}
		if p.Holds != nil {
			out = append(out, p)
		}
	}
	return out
}

// holdsForLiving returns what a consequence means for an object that is not terminating; nil
// if it means nothing.
func holdsForLiving(o *scenario.Object, c collector.Consequence) func(End) bool {
	switch c {
	case collector.ConsequenceDelete:
		return func(e End) bool { return e.Deleted(o.UID) }
	case collector.ConsequenceUnlink:
		return func(e End) bool { return !e.Deleted(o.UID) && losesReferences(e, o) }
	case collector.ConsequenceNone, collector.ConsequenceStuck:
		return func(e End) bool { return !e.Deleted(o.UID) && !losesReferences(e, o) }
	case collector.ConsequenceUnknown:
	}
	return nil
}

// holdsForTerminating returns what a consequence means for a terminating object; nil if it
// means nothing.
func holdsForTerminating(o *scenario.Object, c collector.Consequence) func(End) bool {
	switch c {
	case collector.ConsequenceDelete:
		return func(e End) bool { return e.Object(o.UID) == nil }
	case collector.ConsequenceStuck:
		return func(e End) bool { return e.Object(o.UID) != nil }
	case collector.ConsequenceUnlink:
		return func(e End) bool { return losesReferences(e, o) }
	case collector.ConsequenceNone, collector.ConsequenceUnknown:
	}
	return nil
}

// losesReferences reports whether an object is gone or lacks one of its references at an end.
// The API server removes duplicates, which does not count.
func losesReferences(e End, o *scenario.Object) bool {
	for _, r := range object.ReferencesOf(o.OwnerReferences) {
		if !hasReference(e.Object(o.UID), &r) {
			return true
		}
	}
	return e.Object(o.UID) == nil
}
