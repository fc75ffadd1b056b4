package plan

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// reason says in a few words why a step is taken. Strings of the cluster are in
// it as they are.
func (m *maker) reason(index int, s Step) string {
	move := &m.course.Moves[index]
	switch move.Act {
	case collector.Remove:
		if move.Asked {
			return m.whyAsked(move)
		}
		return whyRemove(s.References) + how(move)
	case collector.Detach:
		return m.whyDetach(move, s.References)
	case collector.Unblock:
		return "it waits in a circle with what it owns, which is being deleted in the foreground: its references stop blocking, so that both can go"
	case collector.FreeFinalizer:
		if move.Change.Release == object.OrphanFinalizer {
			return "no dependent refers to it any more: its deletion may end"
		}
		return "foreground deletion, and nothing blocks it any more"
	case collector.Leave, collector.OrphanChildren:
	}
	return ""
}

func whyRemove(of []Reference) string {
	if len(of) == 1 {
		return fmt.Sprintf("its only owner, %s/%s, %s", of[0].Kind, of[0].Name, of[0].Evidence)
	}
	return fmt.Sprintf("none of its %d owners holds: %s", len(of), facts(of))
}

// how adds what the policy does where it is not the usual one.
func how(move *collector.Move) string {
	switch move.Policy {
	case metav1.DeletePropagationForeground:
		return "; its own dependents go first (foreground)"
	case metav1.DeletePropagationOrphan:
		return "; its own dependents stay (orphan), as its finalizer asks"
	case metav1.DeletePropagationBackground:
	}
	return ""
}

func (m *maker) whyDetach(move *collector.Move, of []Reference) string {
	if move.For != graph.None {
		return fmt.Sprintf("its owner %s is being deleted and lets go of its dependents (orphan)", m.graph.Object(move.For))
	}
	return facts(of) + "; " + remaining(move)
}

// remaining names what keeps an object that loses references.
func remaining(move *collector.Move) string {
	var kept []object.Reference
	dropped, twin := map[types.UID]bool{}, false
	for _, i := range move.Change.Drop {
		dropped[move.Before.Owners[i].UID] = true
	}
	for i, v := range move.Verdicts {
		if v != collector.Solid || move.Change.Drops(i) {
			continue
		}
		kept = append(kept, move.Before.Owners[i])
		twin = twin || dropped[move.Before.Owners[i].UID]
	}
	text := fmt.Sprintf("%d owners remain", len(kept))
	switch len(kept) {
	case 0:
		text = "the collector drops the good reference of the same UID too, so that no owner remains"
	case 1:
		text = kept[0].String() + " remains"
	}
	if twin {
		text += " (the cluster's own collector would drop the good reference of the same UID too)"
	}
	return text
}

// mostNamed is how many owners a reason names.
const mostNamed = 4

func facts(of []Reference) string {
	var said []string
	for i, r := range of {
		if i == mostNamed {
			said = append(said, fmt.Sprintf("and %d more", len(of)-mostNamed))
			break
		}
		said = append(said, fmt.Sprintf("%s/%s %s", r.Kind, r.Name, r.Evidence))
	}
	return strings.Join(said, "; ")
}

// What may be found of an owner that is not there.
const (
	isGone     = "is gone"
	goesBefore = "goes before it"
)

// evidence says what was found of the owner that a reference names, which was judged
// before the run.
func (m *maker) evidence(move *collector.Move, i int, judged collector.Judgement) string {
	owner := m.graph.Find(move.Before.Owners[i].UID)
	if m.course.Model.Changed(owner) && m.graph.Object(owner) != nil && proved(judged.Verdict) {
		return byThisRun(move, i)
	}
	return found(judged)
}

// found says what was found of an owner.
func found(j collector.Judgement) string {
	switch {
	case j.Withheld():
		return "names a kind of lists, which nothing serves"
	case j.Cause == collector.Missing:
		return isGone
	case j.Cause == collector.Replaced:
		return "was replaced: another object has its name now"
	case j.Cause == collector.Mismatched:
		return fmt.Sprintf("is not whose UID it names: that is %s", j.Holder)
	case j.Cause == collector.CrossNamespace:
		return fmt.Sprintf("is not in this namespace: it lives in %s", j.Holder.Namespace)
	case j.Cause == collector.Terminating:
		return "is being deleted in the foreground and waits for it"
	case j.Cause == collector.ClusterToNamespaced:
		return "is of a namespaced kind, and this object is cluster-scoped"
	case j.Cause == collector.UnservedVersion:
		return "is named in a version that is not served"
	case j.Cause == collector.Unverified:
		return "could not be verified"
	case j.Cause == collector.UnknownKind:
		return "is of a kind that is not served"
	}
	return "holds"
}

// proved says whether a reference was good before the run changed its owner.
func proved(before collector.Verdict) bool {
	switch before {
	case collector.Solid, collector.Waiting:
		return true
	case collector.Dangling, collector.Unresolvable, collector.ScopeError, collector.Unknown:
	}
	return false
}

// byThisRun says what this run did to an owner that was there.
func byThisRun(move *collector.Move, i int) string {
	switch verdictOf(move, i) {
	case collector.Waiting:
		return "is being deleted in the foreground and waits for it"
	case collector.Solid:
		return "holds"
	case collector.Dangling, collector.Unresolvable, collector.ScopeError, collector.Unknown:
	}
	return goesBefore
}
