package execute

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const soAlready = "nothing left to do: it is so already"

// why words why a step is not done: what the collector makes of its object
// instead. It is not escaped.
func why(m *collector.Model, step *plan.Step, n graph.Node, d collector.Decision) string {
	switch d.Act {
	case collector.Leave:
		return held(m, step, n, d)
	case collector.OrphanChildren:
		return dependent(m, n)
	case collector.Detach:
		if step.Action == collector.Remove {
			return solid(m, n, nil)
		}
	case collector.Remove:
		if step.Action == collector.Detach {
			return "no owner of it is left, so it would be deleted now"
		}
	case collector.FreeFinalizer:
		if step.Action != collector.FreeFinalizer {
			return "it is being deleted already"
		}
		return "another finalizer has to go first: " + d.Change.Release
	case collector.Unblock:
	}
	return "the collector would do something else with it now: " + string(d.Act)
}

// another says why what was asked for on an object, as it was shown, is not done
// on what it is now; empty where nothing that matters is different.
func another(shown, now *object.Object) string {
	switch {
	case now == nil:
		return "already gone"
	case now.Terminating() != shown.Terminating():
		return "it is being deleted already"
	case !sameReferences(now.Owners, shown.Owners):
		return "it has other owners now than were shown"
	case !slices.Equal(now.Finalizers, shown.Finalizers):
		return "it has other finalizers now than were shown"
	}
	return ""
}

func held(m *collector.Model, step *plan.Step, n graph.Node, d collector.Decision) string {
	switch d.Hold {
	case collector.Gone:
		if step.Action == collector.Remove {
			return "already gone"
		}
		return "gone meanwhile"
	case collector.Going:
		if step.Action == collector.FreeFinalizer {
			return soAlready
		}
		return "it is being deleted already"
	case collector.Blocked:
		if step.Action != collector.FreeFinalizer {
			return "it is being deleted already"
		}
		return blocking(m, n)
	case collector.Unseen:
		return "not all that may depend on it was seen"
	case collector.ContentsUnknown:
		return "its contents could not all be listed"
	case collector.Contested:
		return snapshot.Contention(m.Object(n)).Contest()
	case collector.Undecidable:
		return "its owner " + m.Object(n).Owners[d.Culprit].String() + " cannot be judged"
	case collector.Ownerless:
		if step.Action == collector.Remove {
			return "it has no owners any more"
		}
	case collector.Kept:
		if step.Action == collector.Remove {
			return solid(m, n, nil)
		}
		if still := solid(m, n, step.OwnerUIDs); still != "" {
			return still
		}
	case collector.NoHold:
	}
	return soAlready
}

// solid names an owner that holds: the first of those, nil being all.
func solid(m *collector.Model, n graph.Node, of []string) string {
	o := m.Object(n)
	for i, v := range m.Verdicts(n) {
		if v == collector.Solid && (of == nil || slices.Contains(of, string(o.Owners[i].UID))) {
			return "its owner " + o.Owners[i].String() + " is there"
		}
	}
	return ""
}

// blocking names what holds up a deletion. What was learned later than the
// graph was built is counted but has no name in it.
func blocking(m *collector.Model, n graph.Node) string {
	if by := m.Blocking(n); len(by) > 0 {
		return m.Object(by[0]).String() + " blocks its deletion"
	}
	return "something blocks its deletion"
}

// dependent names what depends on an object.
func dependent(m *collector.Model, n graph.Node) string {
	uid := m.Graph().UID(n)
	carries := func(r object.Reference) bool { return r.UID == uid }
	for _, e := range m.Graph().Dependents(n) {
		if o := m.Object(e.Node); o != nil && slices.ContainsFunc(o.Owners, carries) {
			return o.String() + " depends on it"
		}
	}
	return "something depends on it"
}
