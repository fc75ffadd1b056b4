package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// fact is something that happens to an object at some time. Facts are never taken back.
type fact uint16

const (
	terminates     fact = 1 << iota // it has a deletionTimestamp
	vanishes                        // it is gone
	collected                       // the collector deletes it because of its references
	waits                           // it is in foreground deletion
	releasable                      // nothing blocks its foreground deletion, and the collector notices
	orphans                         // it is terminating, and orphans its dependents
	orphaned                        // its dependents are orphaned, and the collector notices
	unblocked                       // the collector makes its references stop blocking, to break a cycle
	unblockedFirst                  // the same, before it is deleted
	sweeps                          // a Namespace or CustomResourceDefinition: all of its contents are deleted, not only Pods
)

// Possibilities bound what the cluster's own collector does after deletions, or after it has
// started, in whatever order it processes objects and receives notifications. What happens in
// any order may happen, and what must happen happens in every order. The rules lean to the side
// of caution: they may call something possible that no order does, and never the other way
// round.
//
// The rules only look at neighbors: owners, dependents, contents. So they are evaluated for
// the objects that the deletions, or the objects with which a collector starts, can reach, and
// again where a neighbor has changed, until nothing changes. What may happen depends on what must
// happen, as a foreground deletion that must wait cannot complete as a background deletion would,
// and the other way round. So each is derived twice: the second time from tighter bounds.
type Possibilities struct {
	model    *Model
	graph    *graph.Graph
	behavior collector.Behavior
	requests map[graph.Node][]metav1.DeletionPropagation
	// repeated are the requests for Namespaces that are terminating already. The API server ignores
	// them until the contents are gone, which a scan does not show.
	repeated map[graph.Node][]metav1.DeletionPropagation
	forced   map[graph.Node]bool // a request gives the object no time to stop
	starting bool                // the collector has just started: it has not processed anything yet
	removal  FinalizerRemoval    // the requested one
	released bool                // other controllers remove their finalizers
	// containers are the Namespaces and CustomResourceDefinitions that delete their contents, by
	// kind and name.
	containers map[string]graph.Node

	reached []reachedObject
	index   map[graph.Node]int32 // where a node is in reached

	may, must []fact
	// counted holds, for each list that a rule walks through and each object, how many elements at the
	// front of the list are known to meet the rule's condition. Once met, a condition stays met, so
	// the rule continues from there.
	scanned [lists][]int32
	// dependentWaits reports, per object, whether a dependent may be in foreground deletion, and
	// dependentWaitsAnyway whether it may for another reason than the object's own deletion.
	dependentWaits, dependentWaitsAnyway []bool
	// dependentGoes reports, per object, whether a dependent may vanish.
	dependentGoes []bool
	// waitingOwners counts, per object, the references to owners that may be in foreground
	// deletion.
	waitingOwners []int32
	// processed is, per object, what may make the collector process it.
	processed []processing
	// kept has, per object, up to two UIDs of owners that exist in every order; see keptByOther.
	kept map[int32][2]types.UID
	// differing has the results of namedDifferently.
	differing map[graph.Node]bool
}

// The lists that rules go through.
const (
	collectedReferences = iota
	releaseBlockers
	orphanedDependents
	vanishContents
	sweepPods
	resolvableReferences
	lists
)

// reachedObject is an object that the deletions can reach.
type reachedObject struct {
	node       graph.Node
	object     *object.Object
	owners     []int32 // per reference, the owner's index, or -1 if the deletions cannot reach it
	verdicts   []collector.Verdict
	resolvable bool // it has references, and the collector can resolve all of them, as far as is known
	unverified bool // the scan does not show whether one of its owners exists
	solid      bool // all of its references are
	listed     bool // the collector watches it
	patched    bool // the request removes a finalizer: object is what it is afterwards
	containers []int32
	contents   []int32 // of a Namespace or CustomResourceDefinition
	requested  []metav1.DeletionPropagation
	dependents []graph.Edge // of watched objects
	groupOf    []int32      // per reference, where its group is in groups
	groups     []uidGroup
	rejects    bool // the API server may reject the collector's patches
	// controllers and invalid count the references that control and those that the API server
	// rejects.
	controllers, invalid int
	undangling           [2]int // the first two references that are not dangling, or -1
}

// processing is what makes the collector process an object.
type processing struct {
	mayStart      bool // it may start with the object
	starts        bool // it starts with the object
	anyway        bool // it may start with the object, or repeats what has failed
	bad           bool // a reference is bad from the beginning
	becomesBad    bool // a reference becomes bad
	ownerVanishes bool
}

// NewPossibilities returns the bounds for a collector that starts with the scanned objects. The
// model must be in its first state, and must not change.
func NewPossibilities(m *Model) *Possibilities { return newPossibilities(m, Bounds{}, true, false) }

// newPossibilities returns the bounds for what is requested of a model in its first state. If released
// is set, other controllers remove their finalizers.
func newPossibilities(m *Model, b Bounds, starting, released bool) *Possibilities {
	p := &Possibilities{model: m, graph: m.graph, behavior: m.judge.Behavior(), starting: starting, released: released, removal: b.Removal, requests: map[graph.Node][]metav1.DeletionPropagation{}, repeated: map[graph.Node][]metav1.DeletionPropagation{}, forced: map[graph.Node]bool{}, index: map[graph.Node]int32{}, differing: map[graph.Node]bool{}}
	for _, d := range b.Deletes {
		o := m.graph.Object(d.Node)
		switch {
		case o == nil || o.Contested || int(d.Node) >= m.graph.Listed() || o.InGracePeriod() && !shortensGracePeriod(o, d.GraceSeconds):
		case o.IsNamespace() && o.Terminating():
			p.repeated[d.Node] = append(p.repeated[d.Node], d.Policy)
		default:
			p.requests[d.Node] = append(p.requests[d.Node], d.Policy)
			p.forced[d.Node] = p.forced[d.Node] || d.GraceSeconds != nil && *d.GraceSeconds == 0
		}
	}
	p.reach()
	p.may, p.must = make([]fact, len(p.reached)), make([]fact, len(p.reached))
	for range 2 {
		p.startProcessing()
		p.may = p.derive(p.mayHappen, p.noteOwner)
		p.kept = map[int32][2]types.UID{}
		p.must = p.derive(p.mustHappen, func([]fact, int32, int) bool { return false })
	}
	return p
}

// reach finds the objects that the deletions can reach: dependents, contents, and owners,
// Namespaces and CustomResourceDefinitions that wait for one of them.
func (p *Possibilities) reach() {
	p.containers = map[string]graph.Node{}
	for n := range p.graph.Listed() {
		if o := p.graph.Object(graph.Node(n)); DeletesContents(o.Identity) && (o.Terminating() && emptiesContents(o) || p.requests[graph.Node(n)] != nil) {
			p.containers[o.Kind+"/"+o.Name] = graph.Node(n)
		}
	}
	add := func(n graph.Node) {
		if _, known := p.index[n]; known || p.graph.Object(n) == nil || p.graph.Object(n).Contested {
			return
		}
		p.index[n] = int32(len(p.reached))
		p.reached = append(p.reached, reachedObject{node: n, object: p.graph.Object(n), listed: int(n) < p.graph.Listed(), requested: p.requests[n]})
	}
	if p.removal.requested() {
		add(p.removal.Node)
		for i := range p.reached { // the patch comes first
			left := p.removal.change().Apply(*p.reached[i].object)
			p.reached[i].object, p.reached[i].patched = &left, true
		}
	}
	for n := range p.requests {
		add(n)
	}
	for n := range p.repeated {
		add(n)
	}
	if p.starting {
		for _, n := range p.startingPoints() {
			add(n)
		}
	}
	slices.SortFunc(p.reached, func(a, b reachedObject) int { return int(a.node - b.node) })
	for i := range p.reached {
		p.index[p.reached[i].node] = int32(i)
	}
	for i := 0; i < len(p.reached); i++ {
		n, o := p.reached[i].node, p.reached[i].object
		for _, e := range p.graph.Dependents(n) {
			add(e.Node)
		}
		for _, owner := range p.graph.Owners(n) {
			if of := p.graph.Object(owner); of != nil && of.HasCollectorFinalizer() {
				add(owner)
			}
		}
		for _, key := range p.containerKeys(o) {
			if container, ok := p.containers[key]; ok {
				add(container)
			}
		}
		if p.mayDeleteContents(&p.reached[i]) {
			p.containers[o.Kind+"/"+o.Name] = n
			for _, member := range p.model.contentsOf(n) {
				add(member)
			}
		}
	}
	for i := range p.reached {
		p.describe(int32(i))
	}
	for i := range p.reached {
		for _, member := range p.reached[i].contents {
			p.reached[member].containers = append(p.reached[member].containers, int32(i))
		}
	}
}

// startingPoints returns the objects that the first states of a model make something happen to:
// those that are terminating, and those with a bad reference or one that is not verified.
func (p *Possibilities) startingPoints() []graph.Node {
	return slices.Concat(snapshot.Parallel(len(p.model.now), func(from, to int) []graph.Node {
		var out []graph.Node
		for n := graph.Node(from); int(n) < to; n++ {
			if o := p.graph.Object(n); o.Terminating() || len(o.Owners) > 0 && p.model.actsOn(n) && slices.ContainsFunc(p.verdicts(n), isBadOrUnknown) {
				out = append(out, n)
			}
		}
		return out
	})...)
}

// verdicts returns the verdicts on the references of an object. A collector that starts may see a
// dependent in a namespace before a cluster-scoped object. Then it may process the object as a virtual
// owner with that namespace, and look for a namespaced owner there (docs/gc-semantics.md#virtual-owners).
func (p *Possibilities) verdicts(n graph.Node) []collector.Verdict {
	out := p.model.judged(n)
	inNamespace := func(e graph.Edge) bool { return p.graph.Object(e.Node).Namespace != "" }
	if p.starting && slices.Contains(out, collector.VerdictScopeError) && slices.ContainsFunc(p.graph.Dependents(n), inNamespace) {
		out = slices.Clone(out)
		for i, v := range out {
			if v == collector.VerdictScopeError {
				out[i] = collector.VerdictUnknown
			}
		}
	}
	return out
}

func isBadOrUnknown(v collector.Verdict) bool {
	return v.IsDanglingOrWaiting() || v == collector.VerdictUnknown
}

// containerKeys returns the kind and name of the Namespace and the CustomResourceDefinition of
// an object.
func (p *Possibilities) containerKeys(o *object.Object) []string {
	var out []string
	if o.Namespace != "" {
		out = append(out, "Namespace/"+o.Namespace)
	}
	if m, ok := p.graph.View().Map(o.APIVersion, o.Kind); ok {
		out = append(out, "CustomResourceDefinition/"+m.Type.String())
	}
	return out
}

func (p *Possibilities) describe(i int32) {
	r := &p.reached[i]
	r.verdicts = p.verdicts(r.node)
	r.unverified = slices.Contains(r.verdicts, collector.VerdictUnknown)
	r.solid = !slices.ContainsFunc(r.verdicts, func(v collector.Verdict) bool { return v != collector.VerdictSolid })
	r.resolvable = len(r.verdicts) > 0 && !slices.ContainsFunc(r.verdicts, func(v collector.Verdict) bool { return !resolvable(v) })
	for _, owner := range p.graph.Owners(r.node) {
		r.owners = append(r.owners, p.at(owner))
	}
	r.groupByUID()
	r.undangling = [2]int{-1, -1}
	for k, v := range r.verdicts {
		switch {
		case v == collector.VerdictDangling:
		case r.undangling[0] < 0:
			r.undangling[0] = k
		case r.undangling[1] < 0:
			r.undangling[1] = k
		}
	}
	r.rejects = collector.UpdateRejected(r.object)
	dependents := p.graph.Dependents(r.node)
	for _, e := range dependents {
		// The collector looks for an object that it does not watch where the first dependent that
		// it sees has it.
		if !r.listed && !r.object.MatchesIdentity(p.graph.Reference(e), p.graph.Object(e.Node).Namespace) {
			r.unverified = true
		}
		if int(e.Node) < p.graph.Listed() {
			r.dependents = append(r.dependents, e)
		}
	}
	if p.mayDeleteContents(r) {
		for _, member := range p.model.contentsOf(r.node) {
			if at := p.at(member); at >= 0 {
				r.contents = append(r.contents, at)
			}
		}
	}
}

// namedDifferently reports whether the dependents of an object name it in several ways or from
// several namespaces. Until the collector has seen the object itself, it has what the first
// dependent says of it, and processes every other that disagrees at once (graph_builder.go,
// addDependentToOwners).
func (p *Possibilities) namedDifferently(n graph.Node) bool {
	out, known := p.differing[n]
	if !known {
		dependents := p.graph.Dependents(n)
		out = slices.ContainsFunc(dependents, func(e graph.Edge) bool { return !p.namesAlike(dependents[0], e) })
		p.differing[n] = out
	}
	return out
}

// namesAlike reports whether two dependents name their owner in the same way and from the same
// namespace.
func (p *Possibilities) namesAlike(a, b graph.Edge) bool {
	return p.graph.Reference(a).SameOwner(p.graph.Reference(b)) && p.graph.Object(a.Node).Namespace == p.graph.Object(b.Node).Namespace
}

// mayDeleteContents reports whether the deletion of an object deletes others with it.
func (p *Possibilities) mayDeleteContents(r *reachedObject) bool {
	return DeletesContents(r.object.Identity) && (!r.object.Terminating() || emptiesContents(r.object))
}

// at returns the index of a node, or -1.
func (p *Possibilities) at(n graph.Node) int32 {
	if i, ok := p.index[n]; ok {
		return i
	}
	return -1
}

// derive evaluates a rule until nothing changes any more.
//
// note is called for each reference to an owner for which a fact is new. It reports whether that
// changes what the rule says about the dependent's owners.
func (p *Possibilities) derive(rule func(facts []fact, i int32) fact, note func(facts []fact, dependent int32, reference int) bool) []fact {
	facts := make([]fact, len(p.reached))
	for k := range p.scanned {
		p.scanned[k] = make([]int32, len(p.reached))
	}
	p.dependentWaits, p.dependentWaitsAnyway = make([]bool, len(p.reached)), make([]bool, len(p.reached))
	p.dependentGoes = make([]bool, len(p.reached))
	p.waitingOwners = make([]int32, len(p.reached))
	queue, queued := make([]int32, 0, len(p.reached)), make([]bool, len(p.reached))
	add := func(i int32) {
		if i >= 0 && !queued[i] {
			queued[i] = true
			queue = append(queue, i)
		}
	}
	for i := range p.reached {
		add(int32(i))
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		queued[i] = false
		next := rule(facts, i) | facts[i]
		if next == facts[i] {
			continue
		}
		r := &p.reached[i]
		begins, goes := next&^facts[i]&waits != 0, next&^facts[i]&vanishes != 0
		facts[i] = next
		add(i)
		if begins {
			p.noteWaiting(facts, i)
		}
		for _, owner := range r.owners {
			if goes && owner >= 0 {
				p.dependentGoes[owner] = true
			}
			add(owner)
		}
		for _, e := range p.graph.Dependents(r.node) {
			dependent := p.at(e.Node)
			if dependent < 0 {
				continue
			}
			if begins {
				p.waitingOwners[dependent]++
			}
			news := note(facts, dependent, e.Index)
			if begins && p.waitingOwners[dependent] <= 2 {
				p.noteWaiting(facts, dependent)
				news = true
			}
			if news {
				for _, owner := range p.reached[dependent].owners {
					add(owner)
				}
			}
			add(dependent)
		}
		for _, member := range r.contents {
			add(member)
		}
		for _, container := range r.containers {
			add(container)
		}
	}
	return facts
}

// noteWaiting notes at the owners of an object that it is in foreground deletion, if it is, and
// whether the deletion of that owner alone has led to it.
func (p *Possibilities) noteWaiting(facts []fact, i int32) {
	r := &p.reached[i]
	if !r.listed || facts[i]&waits == 0 {
		return
	}
	byItself := slices.Contains(r.requested, metav1.DeletePropagationForeground) || slices.Contains(r.object.Finalizers, object.ForegroundFinalizer)
	for _, owner := range r.owners {
		if owner >= 0 {
			p.dependentWaits[owner] = true
			p.dependentWaitsAnyway[owner] = p.dependentWaitsAnyway[owner] || byItself || p.waitingOwners[i] > 1 || facts[owner]&waits == 0
		}
	}
}

// every reports whether all n elements of a list meet a condition.
func (p *Possibilities) every(list int, i int32, n int, meets func(k int) bool) bool {
	at := &p.scanned[list][i]
	for int(*at) < n && meets(int(*at)) {
		*at++
	}
	return int(*at) == n
}

// mayBeUnlinked reports whether the collector may not know that an object depends on the owner
// with a reference's UID: if it finds nothing under the name of the reference before it sees
// the owner, it forgets the dependent (graph_builder.go, removeNode).
func (p *Possibilities) mayBeUnlinked(e graph.Edge) bool {
	if at := p.at(e.Node); at >= 0 {
		return p.reached[at].verdicts[e.Index] == collector.VerdictDangling
	}
	return p.model.judge.Reference(e).Verdict == collector.VerdictDangling
}

// requestedOnly reports whether all requests for an object have this policy, and there is one.
func (r *reachedObject) requestedOnly(policy metav1.DeletionPropagation) bool {
	return len(r.requested) > 0 && !slices.ContainsFunc(r.requested, func(p metav1.DeletionPropagation) bool { return p != policy })
}

// honorsPolicy reports whether a DELETE leads to the finalizer that its policy asks for
// (docs/gc-semantics.md#finalizers-after-a-delete).
func (r *reachedObject) honorsPolicy() bool {
	return !isEvent(r.object) && !(r.object.IsCRD() && !r.object.Terminating())
}

// deleteFails reports whether the API server refuses every DELETE of an object that names a
// resourceVersion: a DELETE of an Event removes the collector's finalizers, and where those are
// the only ones, the API server compares a resourceVersion that it has not written.
func deleteFails(o *object.Object, b collector.Behavior) bool {
	return b.DeleteNamesResourceVersion && isEvent(o) && len(o.Finalizers) > 0 && len(o.ForeignFinalizers()) == 0
}

// isEvent reports whether an object is an Event, whose deletion ignores every policy.
func isEvent(o *object.Object) bool {
	gk := o.GroupVersionKind().GroupKind()
	return gk.Kind == "Event" && (gk.Group == "" || gk.Group == "events.k8s.io")
}

// dormant reports whether an object that is not terminating has a finalizer of the collector.
func (r *reachedObject) dormant(finalizer string) bool {
	return !r.object.Terminating() && slices.Contains(r.object.Finalizers, finalizer)
}

// held reports whether a finalizer keeps the object that no known controller removes, or that its
// controller should have removed long ago.
func (p *Possibilities) held(r *reachedObject) bool {
	return (!p.released || releaseRejected(r.object)) && slices.ContainsFunc(r.object.ForeignFinalizers(), func(f string) bool {
		return f != DefinitionFinalizer && knownFinalizers[f].removable == nil || p.model.late(r.node, f)
	})
}

// keepsFinalizer reports whether the collector leaves its own finalizer on an object, because
// it does not watch it.
func (r *reachedObject) keepsFinalizer() bool {
	return !r.listed && slices.ContainsFunc(r.object.Finalizers, isCollectors)
}

// losesTrack reports whether the collector forgets a foreground deletion because it orphans the
// dependents first. It only learns of it again when a dependent goes or loses a blocking reference,
// or when it processes the object for the sake of an owner.
func (p *Possibilities) losesTrack(r *reachedObject) bool {
	i := p.at(r.node)
	return p.starting && losesTrack(p.graph, r.node) && !p.processed[i].mayStart && !p.dependentGoes[i]
}

func losesTrack(g *graph.Graph, n graph.Node) bool {
	o := g.Object(n)
	return o != nil && o.Orphaning() && o.DeletingDependents() && !slices.ContainsFunc(g.Dependents(n), func(e graph.Edge) bool { return g.Reference(e).Blocks() })
}

// mayBeUnserved reports whether the kind that a dangling reference names may vanish before the
// collector has looked for the owner. Then it can never resolve the reference.
func (p *Possibilities) mayBeUnserved(r *reachedObject) bool {
	if len(p.containers) == 0 {
		return false
	}
	for k, v := range r.verdicts {
		if v != collector.VerdictDangling {
			continue
		}
		ref := r.object.Owners[k]
		m, ok := p.graph.View().Map(ref.APIVersion, ref.Kind)
		definition, deleted := p.containers["CustomResourceDefinition/"+m.Type.String()]
		if at := p.at(definition); ok && deleted && at >= 0 && p.may[at]&vanishes != 0 {
			return true
		}
	}
	return false
}

// interrupted reports whether an object was terminating already and nothing keeps it: a DELETE
// that the API server did not complete. Nobody does that later.
func (r *reachedObject) interrupted() bool {
	o := r.object
	return o.Terminating() && len(o.Finalizers) == 0 && !o.InGracePeriod() && !o.IsNamespace() && !r.patched
}

// uidGroup is what the references of an object with one UID have in common.
type uidGroup struct {
	first          int
	size           int
	blocks         bool // one of them blocks
	lastBlocks     bool // the last one does: only then does the collector notice that they are removed (graph_builder.go, referencesDiffs)
	startsBad      bool // one of them is bad from the beginning
	notDangling    int  // one that is not dangling, or -1
	startsDangling bool // one of them is dangling from the beginning
	sameVerdicts   bool
	controllers    int // different references that control
	controller     int // the last one of them
	invalid        int
}

// group returns what references with the UID of the k-th have in common.
func (r *reachedObject) group(k int) *uidGroup { return &r.groups[r.groupOf[k]] }

// groupByUID groups the references.
func (r *reachedObject) groupByUID() {
	known := make(map[types.UID]int32, len(r.object.Owners))
	r.groupOf = make([]int32, len(r.object.Owners))
	verdicts := []collector.Verdict{}
	for k, o := range r.object.Owners {
		at, seen := known[o.UID]
		v := r.verdicts[k]
		if !seen {
			at = int32(len(r.groups))
			known[o.UID] = at
			r.groups, verdicts = append(r.groups, uidGroup{first: k, notDangling: -1, sameVerdicts: true}), append(verdicts, v)
		}
		r.groupOf[k] = at
		g := &r.groups[at]
		g.size++
		g.blocks, g.lastBlocks = g.blocks || o.Blocks(), o.Blocks()
		g.startsBad = g.startsBad || resolvable(v) && v != collector.VerdictSolid
		g.sameVerdicts = g.sameVerdicts && v == verdicts[at]
		if v != collector.VerdictDangling {
			g.notDangling = k
		} else {
			g.startsDangling = true
		}
		if o.Controls() && (g.controllers == 0 || !o.Equal(r.object.Owners[g.controller])) { // equal ones are merged
			g.controller = k
			g.controllers++
			r.controllers++
		}
		if collector.ReferenceRejected(o) {
			g.invalid++
			r.invalid++
		}
	}
}

// rejectedWithout reports whether the API server rejects the patch that removes the references with
// the UID of the k-th.
func (r *reachedObject) rejectedWithout(k int) bool {
	if !r.rejects {
		return false
	}
	g := r.group(k)
	return r.rejectsCounted(r.controllers-g.controllers, r.invalid-g.invalid)
}

// rejectsCounted reports whether the API server rejects an update that leaves the object with that
// many controllers and invalid references.
func (r *reachedObject) rejectsCounted(controllers, invalid int) bool {
	rest := object.Object{Finalizers: r.object.Finalizers}
	return controllers > 1 || invalid > 0 || collector.UpdateRejected(&rest)
}

// rejected reports whether the API server rejects the patch that removes a finalizer.
func (r *reachedObject) rejected(finalizer string) bool {
	if !r.rejects {
		return false
	}
	left := *r.object
	left.Finalizers = slices.DeleteFunc(slices.Clone(left.Finalizers), func(f string) bool { return f == finalizer })
	return collector.UpdateRejected(&left)
}

// stops reports whether the object, if it is a Pod, stops within its grace period or needs
// not stop.
func (p *Possibilities) stops(r *reachedObject) bool {
	return p.released || p.forced[r.node] || !p.model.Overdue(r.object)
}
