package e2e

import (
	"math/rand/v2"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// blueprint describes a graph. A seed always gives the same blueprint; graphs built from it
// differ only in names and UIDs.
type blueprint struct {
	seed             uint64
	dice             *rand.Rand
	parts            []part
	noDependents     map[int]bool // parts that must not get random dependents
	nonexistentCount int          // how many nonexistent names and UIDs are in use
	percentValid     int          // how many of a hundred references are valid
}

// part is one object.
type part struct {
	make       func(namespace, name string, more ...func(object)) object
	apiVersion string
	kind       string
	namespace  int // index of the namespace, or clusterScoped
	refs       []partRef
	finalizers []string
	change     change
}

// namespacedKinds and clusterKinds are the kinds of the objects in a graph. No controller acts on
// any of them.
var (
	namespacedKinds = []func(namespace, name string, more ...func(object)) object{
		configMap, secret, role, lease, podTemplate, autoscaler, widget, widget, pod,
	}
	clusterKinds = []func(name string, more ...func(object)) object{gadget, gadget, clusterRole, priorityClass}
)

// hold is a finalizer that is never removed.
const hold = "e2e.kubectl-gc.dev/hold"

// What a graph has before dependents are added.
const (
	roots            = 7 // in each namespace
	clusterRoots     = 6
	largestCycle     = 4 // that is not deleted
	terminatingCycle = 3 // the largest cycle with a terminating member
	changes          = 6 // how many parts are deleted, and how many are replaced
)

// clusterScoped is the namespace of cluster-scoped parts.
const clusterScoped = -1

// namespacesPerGraph is the number of namespaces of a graph.
const namespacesPerGraph = 3

// partRef is an owner reference. Name and UID are numbers of parts; a negative number is a name
// or UID that does not exist.
type partRef struct {
	apiVersion, kind string
	name, uid        int
	blocks, controls bool
}

// change is what happens to a part before a collector reads it.
type change int

const (
	lives change = iota
	wasDeleted
	wasReplaced // by another object of the same name
	inBackground
	inForeground
	isOrphaning
)

// policy returns the propagation policy with which the part is deleted.
func (f change) policy() metav1.DeletionPropagation {
	switch f {
	case inForeground:
		return metav1.DeletePropagationForeground
	case isOrphaning:
		return metav1.DeletePropagationOrphan
	default:
		return metav1.DeletePropagationBackground
	}
}

// draw returns the blueprint of a seed with about n parts, about half of them garbage.
func draw(seed uint64, n int) *blueprint {
	b := newBlueprint(seed, n, 55)
	b.changeParts()
	return b
}

// drawSound returns a blueprint with little garbage, in which only members of cycles are
// terminating.
func drawSound(seed uint64, n int) *blueprint {
	b := newBlueprint(seed, n, 92)
	b.makeBlocking()
	b.dropOtherOwnersOfOrphans()
	return b
}

func newBlueprint(seed uint64, n, percentValid int) *blueprint {
	b := &blueprint{seed: seed, dice: rand.New(rand.NewPCG(seed, seed)), noDependents: map[int]bool{}, percentValid: percentValid}
	for space := range namespacesPerGraph {
		for range roots {
			b.add(space)
		}
		e := b.addAs(event, space)
		b.parts[e].apiVersion = "events.k8s.io/v1" // an Event of the core group cannot own anything
		b.add(space, b.refTo(e))
	}
	for range clusterRoots {
		b.add(clusterScoped)
	}
	b.cycles()
	for len(b.parts) < n {
		b.dependent()
	}
	return b
}

func (b *blueprint) chance(percent int) bool { return b.dice.IntN(100) < percent }

// nonexistent returns the number of a new name or UID that does not exist.
func (b *blueprint) nonexistent() int {
	b.nonexistentCount++
	return -b.nonexistentCount
}

func (b *blueprint) randomNamespace() int {
	if b.chance(20) {
		return clusterScoped
	}
	return b.dice.IntN(namespacesPerGraph)
}

// add adds a part of some kind and returns its number.
func (b *blueprint) add(space int, claims ...partRef) int {
	if space == clusterScoped {
		create := clusterKinds[b.dice.IntN(len(clusterKinds))]
		return b.addAs(func(_, name string, more ...func(object)) object { return create(name, more...) }, space, claims...)
	}
	return b.addAs(namespacedKinds[b.dice.IntN(len(namespacedKinds))], space, claims...)
}

func (b *blueprint) addAs(kind any, space int, claims ...partRef) int {
	p := part{namespace: space, refs: claims}
	switch create := kind.(type) {
	case func(namespace, name string, more ...func(object)) object:
		p.make = create
	case func(namespace, name string) object:
		p.make = func(namespace, name string, _ ...func(object)) object { return create(namespace, name) }
	}
	example := p.make("", "")
	p.apiVersion, p.kind = example.GetAPIVersion(), example.GetKind()
	b.parts = append(b.parts, p)
	return len(b.parts) - 1
}

// refTo returns a reference to a part in any served version. The part may be deleted later.
func (b *blueprint) refTo(i int) partRef {
	c := partRef{apiVersion: b.parts[i].apiVersion, kind: b.parts[i].kind, name: i, uid: i, blocks: b.chance(45)}
	switch {
	case strings.HasPrefix(c.apiVersion, customGroup) && b.chance(50):
		c.apiVersion = customGroup + "/v1beta1"
	case strings.HasPrefix(c.apiVersion, "autoscaling/") && b.chance(50):
		c.apiVersion = "autoscaling/v1"
	}
	return c
}

// cycles adds parts that own each other, or themselves.
func (b *blueprint) cycles() {
	for size := 1; size <= largestCycle; size++ {
		b.cycle(b.randomNamespace(), size)
	}
	b.cycle(clusterScoped, 2)
	// A cycle with an invalid reference in it, and a cycle with a member held by another
	// finalizer.
	open := b.cycle(b.randomNamespace(), 3)
	b.parts[open[0]].refs[0].name = b.nonexistent()
	hung := b.cycle(0, 3)
	b.parts[hung[1]].refs = append(b.parts[hung[1]].refs, b.missing(0))
	// Cycles with a terminating member. Whether the other members then are deleted at once or
	// wait for their dependents is nondeterministic. Their dependents must not be held, so that
	// both orders lead to the same final state.
	for _, f := range []change{inBackground, inForeground, isOrphaning} {
		for size := 1; size <= terminatingCycle; size++ {
			members := b.isolatedCycle(size)
			i := members[b.dice.IntN(size)]
			b.parts[i].change = f
			if f == inBackground {
				b.parts[i].finalizers = []string{hold}
			}
		}
	}
	// In these cycles all members are terminating. If their references block, they wait for each
	// other for ever.
	for size := 1; size <= terminatingCycle; size++ {
		for _, i := range b.isolatedCycle(size) {
			b.parts[i].change = inForeground
		}
	}
}

// isolatedCycle adds a cycle with one or two dependents and no other relations.
func (b *blueprint) isolatedCycle(size int) []int {
	space := b.randomNamespace()
	members := b.cycle(space, size)
	for _, i := range members {
		b.noDependents[i] = true
		if b.chance(40) {
			b.noDependents[b.add(space, b.refTo(i))] = true
		}
	}
	return members
}

func (b *blueprint) cycle(space, size int) []int {
	members := make([]int, size)
	for i := range members {
		members[i] = b.add(space)
	}
	for i, member := range members {
		b.parts[member].refs = []partRef{b.refTo(members[(i+1)%size])}
	}
	return members
}

// dependent adds a part with one to three random owners.
func (b *blueprint) dependent() {
	space := b.randomNamespace()
	var claims []partRef
	for range 1 + b.dice.IntN(3) {
		c := b.randomRef(space)
		// If two references have one UID and only one of them is valid, the program keeps the
		// valid one, unlike the real collector. So do not create such pairs.
		if !slices.ContainsFunc(claims, func(other partRef) bool { return other.uid == c.uid }) {
			claims = append(claims, c)
		}
	}
	claims[0].controls = b.chance(20)
	i := b.add(space, claims...)
	switch {
	case b.chance(10):
		b.parts[i].finalizers = []string{hold}
		if b.chance(50) {
			b.parts[i].change = inBackground
		}
	case b.chance(4):
		b.parts[i].finalizers = []string{metav1.FinalizerOrphanDependents}
	case b.chance(4):
		b.parts[i].finalizers = []string{metav1.FinalizerDeleteDependents}
	}
}

// randomRef returns a random reference for a part in a namespace, or for a cluster-scoped part.
func (b *blueprint) randomRef(space int) partRef {
	if b.chance(b.percentValid) {
		return b.validRef(space)
	}
	kinds := []func(space int) partRef{
		b.missing, b.successor, b.misnamed, b.mistyped, b.otherNamespace, b.namespacedForCluster, b.unserved, b.unknown, b.lowerCase,
	}
	return kinds[b.dice.IntN(len(kinds))](space)
}

// validRef returns a valid reference for a part in a namespace.
func (b *blueprint) validRef(space int) partRef {
	for {
		i := b.dice.IntN(len(b.parts))
		if p := b.parts[i]; !b.noDependents[i] && (p.namespace == space || p.namespace == clusterScoped) {
			return b.refTo(i)
		}
	}
}

// watchedRef returns a valid reference to an object of a type that the collector watches. Whether
// the collector knows the UIDs of other objects is nondeterministic.
func (b *blueprint) watchedRef(space int) partRef {
	for {
		if c := b.validRef(space); c.kind != "Event" {
			return c
		}
	}
}

func (b *blueprint) missing(space int) partRef {
	c := b.watchedRef(space)
	c.name, c.uid = b.nonexistent(), b.nonexistent()
	return c
}

// successor returns a reference with the name of an existing part and another UID, as after its
// owner was replaced.
func (b *blueprint) successor(space int) partRef {
	c := b.watchedRef(space)
	c.uid = b.nonexistent()
	return c
}

// misnamed returns a reference with the UID of one part and the name of another, or a name that
// does not exist.
func (b *blueprint) misnamed(space int) partRef {
	c := b.watchedRef(space)
	c.name = b.nonexistent()
	if b.chance(50) {
		other := b.watchedRef(space)
		c.apiVersion, c.kind, c.name = other.apiVersion, other.kind, other.name
	}
	return c
}

func (b *blueprint) mistyped(space int) partRef {
	c := b.watchedRef(space)
	c.apiVersion, c.kind = "v1", "Service"
	if b.chance(50) {
		c.kind = "Node"
	}
	return c
}

func (b *blueprint) otherNamespace(space int) partRef {
	for {
		i := b.dice.IntN(len(b.parts))
		if p := b.parts[i]; !b.noDependents[i] && p.namespace != clusterScoped && p.namespace != space && p.kind != "Event" {
			return b.refTo(i)
		}
	}
}

func (b *blueprint) namespacedForCluster(space int) partRef {
	switch {
	case space != clusterScoped:
		return b.missing(space)
	case b.chance(50):
		return b.otherNamespace(space)
	}
	return partRef{apiVersion: "v1", kind: "Secret", name: b.nonexistent(), uid: b.nonexistent()}
}

func (b *blueprint) unserved(space int) partRef {
	c := b.watchedRef(space)
	switch b.dice.IntN(3) {
	case 0:
		c.apiVersion = "old.example.com/v1beta1"
	case 1:
		c.apiVersion, c.kind = customGroup+"/v1alpha1", "Gadget"
	case 2:
		c.apiVersion, c.kind, c.uid = "apps/v1beta1", "Deployment", b.nonexistent()
	}
	return c
}

func (b *blueprint) unknown(space int) partRef {
	c := b.watchedRef(space)
	switch b.dice.IntN(4) {
	case 0:
		c.apiVersion, c.kind, c.uid = "none.example.com/v1", "Nothing", b.nonexistent()
	case 1:
		c.apiVersion, c.kind = "v1", "Nothing"
	case 2:
		c.kind = strings.ToUpper(c.kind)
	case 3:
		c.kind += "s"
	}
	return c
}

func (b *blueprint) lowerCase(space int) partRef {
	c := b.validRef(space)
	c.kind = strings.ToLower(c.kind)
	if b.chance(30) {
		c.uid = b.nonexistent()
	}
	return c
}

// changeParts deletes, replaces or begins to delete some of the parts.
func (b *blueprint) changeParts() {
	var free []int
	for i, p := range b.parts {
		if p.change == lives && len(p.finalizers) == 0 && p.kind != "Event" && !b.noDependents[i] {
			free = append(free, i)
		}
	}
	b.dice.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	next := func(f change, finalizers ...string) int {
		i := free[0]
		free = free[1:]
		b.parts[i].change, b.parts[i].finalizers = f, finalizers
		return i
	}
	for range changes {
		next(wasDeleted)
		next(wasReplaced)
	}
	for range changes - 1 {
		next(inForeground)
		next(isOrphaning)
	}
	for range changes / 3 {
		next(inForeground, hold)
		next(isOrphaning, hold)
		next(inBackground, hold)
		// This dependent is never deleted.
		i := next(inForeground)
		b.heldBlocker(i)
	}
	b.makeBlocking()
	b.dropOtherOwnersOfOrphans()
}

// makeBlocking makes dependents block their owners that are in foreground deletion, unless both
// are of the same kind. A collector that starts during a foreground deletion processes the
// dependents that block, and those whose event it receives before the owner's. The
// order of events within a kind is random, but the order of kinds is mostly the same, so no
// number of runs would show both results.
func (b *blueprint) makeBlocking() {
	for i := range b.parts {
		for k := range b.parts[i].refs {
			c := &b.parts[i].refs[k]
			if c.uid >= 0 && b.parts[c.uid].change == inForeground && b.parts[c.uid].kind != b.parts[i].kind {
				c.blocks = true
			}
		}
	}
}

func (b *blueprint) heldBlocker(owner int) {
	c := b.refTo(owner)
	c.blocks = true
	space := b.parts[owner].namespace
	if space == clusterScoped {
		space = b.dice.IntN(namespacesPerGraph)
	}
	i := b.add(space, c)
	b.parts[i].finalizers = []string{hold}
}

// dropOtherOwnersOfOrphans removes the other references of dependents of an orphaning part that
// is not being deleted yet. Otherwise the result depends on the order: if the collector removes a
// dependent's invalid references first, the dependent stays; if it orphans it first, only the
// invalid ones are left, and it deletes the dependent.
func (b *blueprint) dropOtherOwnersOfOrphans() {
	b.keepSingleOwner(func(owner part) bool {
		return owner.change == lives && slices.Contains(owner.finalizers, metav1.FinalizerOrphanDependents)
	})
}

// avoidConcurrentResults removes references that allow a result which two concurrent collectors
// reach only together: a dependent that one orphans while the other removes its invalid
// references stays without owners, while either alone would delete it.
func (b *blueprint) avoidConcurrentResults() *blueprint {
	b.keepSingleOwner(func(owner part) bool { return owner.change == isOrphaning })
	return b
}

// avoidOrphansUnderWrongName changes references with the UID of an orphaning part under a wrong name,
// kind or namespace. collect removes such a reference and keeps the dependent; the real collector may
// delete it: see docs/differences.md.
func (b *blueprint) avoidOrphansUnderWrongName() *blueprint {
	for i := range b.parts {
		for k := range b.parts[i].refs {
			if c := &b.parts[i].refs[k]; c.uid >= 0 && b.parts[c.uid].change == isOrphaning && !b.solid(i, *c) {
				c.uid = b.nonexistent()
			}
		}
	}
	return b
}

// solid reports whether a reference of a part is valid: its owner exists with that name and kind,
// and in a namespace where it may own the part.
func (b *blueprint) solid(n int, c partRef) bool {
	if c.uid < 0 || c.name != c.uid {
		return false
	}
	owner := b.parts[c.uid]
	group := func(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }
	return owner.change != wasDeleted && owner.change != wasReplaced && (owner.namespace == clusterScoped || owner.namespace == b.parts[n].namespace) &&
		owner.kind == c.kind && group(owner.apiVersion) == group(c.apiVersion)
}

// keepSingleOwner removes all other references from dependents of the owners for which such
// returns true.
func (b *blueprint) keepSingleOwner(such func(owner part) bool) {
	for i := range b.parts {
		for _, c := range b.parts[i].refs {
			if c.uid >= 0 && such(b.parts[c.uid]) {
				b.parts[i].refs = []partRef{c}
				break
			}
		}
	}
}
