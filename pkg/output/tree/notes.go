package tree

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// notes returns what is unusual about an object whose row is there because of the
// reference e.
func (l *familyLayout) notes(n graph.Node, e graph.Edge) []Note {
	o := l.graph.Object(n)
	var out []Note
	switch held := o.ForeignFinalizers(); {
	case o.Terminating():
		out = append(out, Note{terminating(o, l.now), Bad})
	case len(held) > 0:
		out = append(out, Note{"finalizer " + wording.List(held, maxNames), Waits})
	}
	return append(out, l.furtherOwners(n, e)...)
}

// terminating returns how long an object has been terminating and what blocks it. The text
// is not escaped.
func terminating(o *object.Object, now time.Time) string {
	text := "terminating " + duration.HumanDuration(now.Sub(o.DeletionRequested()))
	if o.DeletingDependents() {
		text += ", foreground: waits for its dependents"
	}
	if slices.Contains(o.Finalizers, object.OrphanFinalizer) {
		text += ", orphans its dependents"
	}
	if held := o.ForeignFinalizers(); len(held) > 0 {
		text += ", held by " + wording.List(held, maxNames)
	}
	return text
}

// furtherOwners names the owners other than the one above the row.
func (l *familyLayout) furtherOwners(n graph.Node, e graph.Edge) []Note {
	var good []string
	var bad []Note
	for i, r := range l.graph.Object(n).Owners {
		if i == e.Index && e.Node == n || r.UID == l.graph.UID(n) {
			continue
		}
		further := graph.Edge{Node: n, Index: i}
		j := l.judge.Reference(further)
		if !j.Broken() {
			good = append(good, r.String())
		} else if !l.refersTo(e, l.claimOf(further, j)) {
			f := problem(j)
			bad = append(bad, Note{fmt.Sprintf("its owner %s: %s", r, f.Text), f.Tone})
		}
	}
	var out []Note
	if len(good) > 0 {
		word := "also owned by "
		if e.Node == graph.None {
			word = "owned by "
		}
		out = append(out, Note{word + wording.List(good, maxNames), Plain})
	}
	return append(out, bad[:min(len(bad), maxNames)]...)
}

// refersTo reports whether the reference e is a bad one to that owner.
func (l *familyLayout) refersTo(e graph.Edge, claim object.Identity) bool {
	if e.Node == graph.None {
		return false
	}
	j := l.judge.Reference(e)
	return j.Broken() && l.claimOf(e, j) == claim
}

// wrongOwnerNote describes a reference to an object that has the right UID but cannot be
// the owner.
func wrongOwnerNote(j collector.Judgement, r object.Reference) string {
	switch j.Cause {
	case collector.CauseClusterToNamespaced:
		return "names it as its owner, but is cluster-scoped"
	case collector.CauseCrossNamespace:
		return "names it as its owner, but is in another namespace"
	case collector.CauseUnservedVersion:
		return fmt.Sprintf("names it as its owner by %s, which is not served", r.APIVersion)
	case collector.CauseNone, collector.CauseTerminating, collector.CauseUnverified, collector.CauseUnknownKind,
		collector.CauseMismatched, collector.CauseReplaced, collector.CauseMissing:
	}
	return fmt.Sprintf("names it as its owner, but as %s %s", r.APIVersion, r)
}

// problem describes why the owner that a reference names is none.
func problem(j collector.Judgement) Note {
	switch j.Cause {
	case collector.CauseUnverified:
		return Note{"unverified: " + j.Unverified(object.Reference{}).BriefObstacle(), Waits}
	case collector.CauseClusterToNamespaced:
		return Note{"cannot own a cluster-scoped object", Bad}
	case collector.CauseUnservedVersion:
		return Note{"version not served (served: " + strings.Join(j.Served, ", ") + ")", Bad}
	case collector.CauseUnknownKind:
		return Note{"unknown kind", Bad}
	case collector.CauseCrossNamespace:
		return Note{"in another namespace: " + j.UIDHolder.Namespace, Bad}
	case collector.CauseMismatched:
		return Note{fmt.Sprintf("its UID belongs to %s", j.UIDHolder.Identity), Bad}
	case collector.CauseReplaced:
		return Note{"replaced by a new object with the same name", Bad}
	case collector.CauseMissing:
		return Note{"missing", Bad}
	case collector.CauseNone, collector.CauseTerminating:
	}
	return Note{}
}

// maxNames is how many names one note lists.
const maxNames = 3
