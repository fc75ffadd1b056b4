package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// blocked lists what does not come to its end: deletions that wait for
// something at the end of the course, and objects that a reference of theirs
// keeps from being judged while another leads nowhere.
func (m *maker) blocked() []Blocked {
	out := []Blocked{}
	obstacles := collector.NewObstacles(m.course.Model)
	ours := graph.NewSet(m.graph)
	for i := range m.course.Moves {
		ours.Add(m.course.Moves[i].Node)
	}
	for n := range m.graph.Listed() {
		node := graph.Node(n)
		o := m.course.Model.Object(node)
		if o == nil || m.bounds.Within != nil && !m.bounds.Within(node) {
			continue
		}
		_, swept := m.course.Swept[node]
		hangs := o.DeletingDependents() || o.Orphaning() || o.Terminating() && (ours.Has(node) || swept)
		switch {
		case hangs && m.rooted(node, ours.Has(node)):
			out = append(out, m.hanging(obstacles, node))
		case !o.Terminating() && len(o.Owners) > 0 && m.rooted(node, false):
			if b, stuck := m.undecided(node); stuck {
				out = append(out, b)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Blocked) int { return a.Object.Compare(b.Object) })
	return out
}

// rooted says whether an object is one that the plan is about.
func (m *maker) rooted(n graph.Node, ours bool) bool {
	return ours || m.bounds.Roots == nil || m.bounds.Roots(n)
}

// hanging is a deletion that waits.
func (m *maker) hanging(obstacles *collector.Obstacles, n graph.Node) Blocked {
	b := Blocked{Object: m.graph.Object(n).Identity, By: []object.Identity{}}
	for _, by := range m.course.Model.Blocking(n) {
		b.By = append(b.By, m.graph.Object(by).Identity)
	}
	end, _ := obstacles.End(n)
	reason := m.obstacle(end)
	switch {
	case end.Node == n:
	case len(b.By) > 0 && b.By[0] == m.graph.Object(end.Node).Identity:
		reason = fmt.Sprintf("waits for %s, which %s", b.By[0], reason)
	case len(b.By) > 0:
		reason = fmt.Sprintf("waits for %s, and that in the end for %s, which %s", b.By[0], m.graph.Object(end.Node), reason)
	}
	b.Reason = reason
	return b
}

// obstacle says of the object in the way what is the matter with it.
func (m *maker) obstacle(at collector.Obstacle) string {
	o := m.course.Model.Object(at.Node)
	switch at.Why {
	case collector.HeldByFinalizers:
		return "is held by " + strings.Join(o.ForeignFinalizers(), ", ") + m.since(at.Node)
	case collector.StillStopping:
		return "is a Pod that has yet to stop"
	case collector.StillEmptying:
		return "waits for what is in it to go"
	case collector.InCircle:
		return "waits for its own end in a circle: every object in it is being deleted in the foreground and blocks another"
	case collector.CannotBeJudged:
		return "cannot be judged: " + m.culprit(at.Node, at.Reference)
	case collector.OutOfBounds:
		return "lies outside of what this run may change"
	case collector.NotAllSeen:
		return "keeps the collector's finalizer, since not everything was seen that may depend on it"
	case collector.NothingBlocks:
		return "is blocked by nothing any more"
	}
	return "cannot end"
}

// since is how long a deletion had been under way when the snapshot was taken.
func (m *maker) since(n graph.Node) string {
	if o := m.graph.Object(n); o.Terminating() {
		return " since " + duration.HumanDuration(m.graph.Snapshot().Taken.Sub(*o.Deleted))
	}
	return ""
}

// undecided is an object that cannot be judged although a reference of it leads
// nowhere.
func (m *maker) undecided(n graph.Node) (Blocked, bool) {
	d := m.course.Model.Decide(n)
	if d.Hold != collector.Undecidable {
		return Blocked{}, false
	}
	lost := func(v collector.Verdict) bool { return v == collector.Dangling || v == collector.Waiting }
	if !slices.ContainsFunc(m.course.Model.Verdicts(n), lost) {
		return Blocked{}, false
	}
	return Blocked{
		Object: m.graph.Object(n).Identity, By: []object.Identity{},
		Reason: "would lose an owner, but cannot be judged: " + m.culprit(n, d.Culprit),
	}, true
}

// culprit says why a reference cannot be judged.
func (m *maker) culprit(n graph.Node, i int) string {
	r := m.course.Model.Object(n).Owners[i]
	j := m.judgement(n, r)
	switch {
	case j.Withheld():
		return fmt.Sprintf("its reference to %s names a kind of lists", r)
	case j.Cause == collector.ClusterToNamespaced:
		return fmt.Sprintf("it is cluster-scoped, and its reference to %s names a namespaced kind", r)
	case j.Cause == collector.UnservedVersion:
		return fmt.Sprintf("its reference names %s %s, a version that is not served", r.APIVersion, r)
	case j.Cause == collector.UnknownKind:
		return fmt.Sprintf("its reference names %s %s, a kind that is not served", r.APIVersion, r)
	}
	return fmt.Sprintf("nobody can say whether its owner %s is there", r)
}
