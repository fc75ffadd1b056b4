package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// doubt is what the order of events may change about an object.
type doubt uint8

const (
	deletion    doubt = 1 << iota // whether it is deleted
	completion                    // it is deleted: whether it is gone at the end, or with which finalizers it stays
	unlinks                       // it is not deleted: which references it loses
	propagation                   // it is deleted and ends alike: whether in the foreground
	sweep                         // a Namespace: whether its contents are deleted, not only its Pods

	differs = deletion | completion | unlinks // at the end
)

// order finds the objects for which the order matters in which the cluster's own collector
// processes objects and receives notifications: a simulation shows one order. It looks for the few
// shapes in which the order decides (see examine), in what the simulation did, and doubts
// everything that depends on an object in one of them (see spread). It leans to the side of
// caution: it may doubt what happens in every order.
//
// Doubts are never taken back, and each costs one step per neighbor, so the cost is linear.
type order struct {
	model    *Model // at the end
	graph    *graph.Graph
	contents *contentsDeletions
	starting bool // the collector has just started: it has not processed anything yet
	released bool // others have removed their finalizers

	requests  map[graph.Node][]metav1.DeletionPropagation
	several   bool                // more than one deletion is requested
	unblocked map[graph.Node]bool // an object whose references stop blocking, or may, before it is deleted
	// containers are the Namespaces and CustomResourceDefinitions that are deleted with their contents.
	containers map[graph.Node]bool

	doubts map[graph.Node]doubt
	causes map[graph.Node]cause
	queue  []doubted
	keeper map[graph.Node]int // see kept
	of     map[graph.Node][]reference
}

// cause is why the order matters: the object at which that begins, and the reason there.
type cause struct {
	root graph.Node
	why  *reason.Reason
}

type doubted struct {
	node  graph.Node
	doubt doubt
}

// newOrder returns the doubts about the result of a simulation that has ended.
func newOrder(s *simulation) *order {
	u := &order{
		model: s.model, graph: s.model.graph, contents: &s.contentsDeletions,
		starting: s.bounds.Roots == nil, released: s.release != nil,
		requests: map[graph.Node][]metav1.DeletionPropagation{}, several: len(s.bounds.Deletes) > 1,
		unblocked:  map[graph.Node]bool{},
		containers: map[graph.Node]bool{}, doubts: map[graph.Node]doubt{}, causes: map[graph.Node]cause{},
		keeper: map[graph.Node]int{}, of: map[graph.Node][]reference{},
	}
	for _, d := range s.bounds.Deletes {
		u.requests[d.Node] = append(u.requests[d.Node], d.Policy)
	}
	for _, transitions := range [][]Transition{s.earlier, s.result.Transitions} {
		for i := range transitions {
			if t := &transitions[i]; t.Action == collector.ActionUnblock {
				u.unblocked[t.Node] = true
			}
		}
	}
	for i := range u.model.now {
		n, o := graph.Node(i), u.graph.Object(graph.Node(i))
		if DeletesContents(o.Identity) && u.deleted(n) && (!o.Terminating() || emptiesContents(o)) {
			u.containers[n] = true
		}
	}
	for i := range u.model.now {
		if n := graph.Node(i); u.concerned(n) {
			u.examine(n)
		}
	}
	if s.release != nil {
		for _, n := range s.release.unread {
			controller := s.model.Inventory(s.release.release.Members[n]).Controller
			u.doubt(n, deletion, cause{n, reason.MarksUnread(controller)})
		}
	}
	if len(u.graph.Snapshot().Answers) > 0 {
		for i := range u.model.now {
			u.examineAdmission(graph.Node(i))
		}
	}
	for len(u.queue) > 0 {
		next := u.queue[0]
		u.queue = u.queue[1:]
		u.spread(next.node, next.doubt)
	}
	return u
}

// concerned reports whether something happens to an object or to one of its owners.
func (u *order) concerned(n graph.Node) bool {
	changed := func(n graph.Node) bool {
		o := u.graph.Object(n)
		return o != nil && (u.model.now[n] != o || len(u.requests[n]) > 0 || u.starting && o.Terminating())
	}
	isNotSolid := func(v collector.Verdict) bool { return v != collector.VerdictSolid }
	return changed(n) || slices.ContainsFunc(u.graph.Owners(n), changed) || u.starting && slices.ContainsFunc(u.model.judged(n), isNotSolid)
}

// deleted reports whether an object is gone or terminating at the end of the simulation.
func (u *order) deleted(n graph.Node) bool {
	now := u.model.Object(n)
	return u.graph.Object(n) != nil && (now == nil || now.Terminating())
}

// waits reports whether the simulation has an object in foreground deletion at some time.
func (u *order) waits(n graph.Node) bool {
	o := u.graph.Object(n)
	return o != nil && (u.model.begun[n] || o.DeletingDependents())
}

// mayWait reports whether an object is in foreground deletion at some time of some order.
func (u *order) mayWait(n graph.Node) bool {
	return u.waits(n) || u.graph.Object(n) != nil && u.doubts[n]&(deletion|completion|propagation) != 0
}

// changes reports whether an object stops keeping its dependents at some time.
func (u *order) changes(n graph.Node) bool {
	o := u.graph.Object(n)
	return o != nil && (u.waits(n) && u.model.now[n] != o || u.orphans(n) || u.model.now[n] == nil)
}

// held reports whether an object is left at the end, or may be, once nothing waits for its dependents
// any more. Then it keeps those that are left. A Namespace may be left because of its contents.
func (u *order) held(n graph.Node) bool {
	now := u.model.now[n]
	return now != nil && (len(now.ForeignFinalizers()) > 0 || !now.HasCollectorFinalizer() || now.IsNamespace())
}

// holds reports whether an owner stays, and keeps an object, as long as that object uses it.
func (u *order) holds(n, owner graph.Node) bool {
	protects := func(f string) bool { return knownFinalizers[f].protects != nil }
	return slices.Contains(u.model.users().uses[n], owner) && slices.ContainsFunc(u.graph.Object(owner).Finalizers, protects)
}

// mayOrphan reports whether an object orphans its dependents if it is deleted, or may.
func (u *order) mayOrphan(n graph.Node) bool {
	o := u.graph.Object(n)
	asked := slices.Contains(u.requests[n], metav1.DeletePropagationOrphan)
	return o != nil && (asked || orphaning(u.model.now[n]) || slices.Contains(o.Finalizers, object.OrphanFinalizer))
}

// orphans reports whether an object orphans its dependents.
func (u *order) orphans(n graph.Node) bool { return u.mayOrphan(n) && u.deleted(n) }

// kept reports whether an owner keeps an object in every order.
func (u *order) kept(n graph.Node) bool {
	references := u.references(n)
	for k := u.keeper[n]; k < len(references); k++ {
		r := &references[k]
		stays := u.graph.Object(r.owner) == nil || u.model.Object(r.owner) != nil && !u.mayWait(r.owner) && !u.orphans(r.owner)
		if r.verdict == collector.VerdictSolid && !r.doubled && stays {
			u.keeper[n] = k
			return true
		}
	}
	u.keeper[n] = len(references)
	return false
}

// reference is a reference of an object in the first state.
type reference struct {
	owner   graph.Node
	verdict collector.Verdict
	doubled bool // another one has its UID: both are removed together
	blocks  bool // it blocks the owner, or may
}

func (r *reference) bad() bool {
	return r.verdict.IsDanglingOrWaiting() || r.verdict == collector.VerdictUnknown
}

func (u *order) references(n graph.Node) []reference {
	if r, known := u.of[n]; known {
		return r
	}
	owners, times := u.graph.Object(n).Owners, map[types.UID]int{}
	for _, of := range owners {
		times[of.UID]++
	}
	out := make([]reference, len(owners))
	for k, of := range owners {
		doubled := times[of.UID] > 1
		out[k] = reference{u.graph.Owners(n)[k], u.verdict(n, k), doubled, of.Blocks() || doubled}
	}
	u.of[n] = out
	return out
}

// verdict returns the verdict on a reference in the first state. A collector that starts may see a
// dependent in a namespace before a cluster-scoped object. Then it may process the object as a virtual
// owner with that namespace, and look for a namespaced owner there (docs/gc-semantics.md#virtual-owners).
func (u *order) verdict(n graph.Node, k int) collector.Verdict {
	v := u.model.verdict(u.model.judge.Reference(graph.Edge{Node: n, Index: k}))
	inNamespace := func(e graph.Edge) bool { return u.graph.Object(e.Node).Namespace != "" }
	if u.starting && v == collector.VerdictScopeError && slices.ContainsFunc(u.graph.Dependents(n), inNamespace) {
		return collector.VerdictUnknown
	}
	return v
}

// blocks reports whether an object blocks the foreground deletion of the owner that a reference names.
func (u *order) blocks(e graph.Edge) bool {
	return int(e.Node) < u.graph.Listed() && u.references(e.Node)[e.Index].blocks
}

// undecidable reports whether the collector can never resolve a reference of an object: an owner that
// orphans the object removes it.
func (u *order) undecidable(n graph.Node) bool {
	return slices.ContainsFunc(u.references(n), func(r reference) bool {
		unresolved := r.verdict == collector.VerdictUnresolvable || r.verdict == collector.VerdictScopeError
		return unresolved && !u.mayOrphan(r.owner)
	})
}

// doubt adds doubts about an object, because of another one or for a reason of its own.
func (u *order) doubt(n graph.Node, d doubt, because cause) {
	o := u.graph.Object(n)
	if o == nil || o.Contested {
		return
	}
	requested, inNamespace, inDefinition := len(u.requests[n]) > 0, false, false
	for _, container := range u.containersOf(n) {
		switch {
		case u.doubts[container]&(deletion|sweep) != 0:
		case u.graph.Object(container).IsCRD():
			inDefinition = true
		default:
			inNamespace = u.model.Object(n) == nil && (o.IsPod() || u.contents.swept(container))
		}
	}
	switch {
	case inNamespace && d&sweep == 0: // the namespace controller deletes it, in whatever state it is
		return
	case requested && !u.several:
		d &^= deletion | propagation
	case d&deletion != 0 && !o.Terminating() && u.deleted(n) && (requested || inDefinition):
		d = d&^deletion | propagation
	}
	if d&propagation != 0 && u.mayRefuse(n) { // the finalizer of a foreground deletion stays
		d |= completion
	}
	if d &^= u.doubts[n]; d == 0 {
		return
	}
	if because.why == nil {
		because = cause{n, reason.Of(reason.OrderMatters{})}
	}
	if u.doubts[n]&differs == 0 {
		u.causes[n] = because
	}
	u.doubts[n] |= d
	u.queue = append(u.queue, doubted{n, d})
}

// begin adds doubts about an object that begin there, for no reason that has a name.
func (u *order) begin(n graph.Node, d doubt) { u.doubt(n, d, cause{}) }

// containersOf returns the Namespace and the CustomResourceDefinition that are deleted with an object.
func (u *order) containersOf(n graph.Node) []graph.Node {
	if len(u.containers) == 0 {
		return nil
	}
	return slices.DeleteFunc(u.model.containersOf(n), func(container graph.Node) bool { return !u.containers[container] })
}

// spread doubts what depends on an object with a new doubt: its dependents, the owners that it blocks,
// what contains it, what it uses and what it contains.
func (u *order) spread(n graph.Node, d doubt) {
	o, from, dependents := u.graph.Object(n), u.causes[n], u.graph.Dependents(n)
	mayBlock := func(e graph.Edge) bool { // unless it goes or loses the reference in every order
		now, uid := u.model.now[e.Node], u.graph.UID(n)
		named := now != nil && slices.ContainsFunc(now.Owners, func(r object.Reference) bool { return r.UID == uid })
		return u.blocks(e) && (named || u.doubts[e.Node]&differs != 0)
	}
	others := u.mayOrphan(n) || u.graph.Virtual(n) // nobody waits for the dependents, or not always
	if d&propagation != 0 && len(dependents) > 0 && (others || slices.ContainsFunc(dependents, mayBlock)) {
		u.doubt(n, completion, from)
	}
	if d&(deletion|completion|propagation) != 0 {
		below := propagation
		underWay := u.starting && o.DeletingDependents() // the collector may not process what does not block it
		stays := d&completion != 0 && !u.waits(n)        // then it keeps them, as its deletion is not in the foreground
		if d&deletion != 0 || stays || others || u.held(n) || o.IsNamespace() || underWay {
			below = deletion | unlinks
		}
		u.doubtDependents(n, below, from)
	}
	rejected := u.rejected(n)
	for k, owner := range u.graph.Owners(n) {
		waits := u.mayWait(owner) && u.blocks(graph.Edge{Node: n, Index: k}) || rejected && u.orphans(owner)
		if waits && d&differs != 0 {
			u.doubt(owner, completion, from)
		}
	}
	if d&(deletion|completion) != 0 {
		for _, container := range u.containersOf(n) {
			if !u.keeps(container) {
				u.doubt(container, completion, from)
			}
			if u.graph.Object(container).IsNamespace() && u.model.judge.Behavior().OrderedNamespaceDeletion && o.IsPod() {
				u.doubt(container, sweep, from)
			}
		}
		for _, used := range u.model.users().uses[n] {
			if u.deleted(used) {
				u.doubt(used, completion, from)
			}
		}
	}
	if d&(deletion|sweep) != 0 && DeletesContents(o.Identity) {
		for _, member := range u.model.ContentsOf(n) {
			if !u.graph.Object(member).Terminating() && (d&deletion != 0 || !u.graph.Object(member).IsPod()) {
				u.doubt(member, deletion|sweep, from)
			}
		}
	}
}

// keeps reports whether a Namespace is left in every order of events, as admission refuses the deletion of something in it.
func (u *order) keeps(container graph.Node) bool {
	kept := func(n graph.Node) bool {
		return u.model.ContentsRefused(n) && u.model.Admission(n, "DELETE").Certain()
	}
	return len(u.graph.Snapshot().Answers) > 0 && u.graph.Object(container).IsNamespace() && slices.ContainsFunc(u.model.ContentsOf(container), kept)
}

// doubtDependents doubts the dependents of an object with that doubt.
func (u *order) doubtDependents(owner graph.Node, d doubt, from cause) {
	for _, e := range u.graph.Dependents(owner) {
		r, orphans := &u.references(e.Node)[e.Index], u.mayOrphan(owner)
		switch {
		case u.graph.Object(e.Node).Terminating(), u.undecidable(e.Node):
			if orphans { // that needs no decision on the dependent
				u.doubt(e.Node, unlinks, from)
			}
		case r.verdict == collector.VerdictDangling && !r.doubled && !orphans:
		case u.kept(e.Node):
			u.doubt(e.Node, d&unlinks, from)
		case !u.deleted(e.Node):
			u.doubt(e.Node, deletion, from)
		default:
			u.doubt(e.Node, d&^unlinks, from)
		}
	}
}
