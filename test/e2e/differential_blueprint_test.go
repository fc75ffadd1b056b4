package e2e

import (
	"math/rand/v2"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// blueprint is the plan of a graph. A seed always gives the same blueprint; every graph
// that is built from it differs in names and UIDs only.
type blueprint struct {
	seed   uint64
	dice   *rand.Rand
	parts  []part
	closed map[int]bool // parts that nothing random may be owned by
	unreal int          // how many names and UIDs are claimed that nothing has
	sound  int          // how many claims of a hundred are good; with 100, those of circles are, too
	spaces []string     // in which namespaces it is built; nil: in new ones
	named  bool         // every object has a label
	asked  []int        // parts that are always asked for by name
}

// graphSize is the number of parts of a blueprint before dependents are added.
type graphSize struct {
	roots        int // in each namespace
	clusterRoots int
	circle       int // the largest circle that nobody deletes
	dying        int // the largest of which a member is being deleted; none of them if it is 0
	fates        int // how many parts are deleted, and as many replaced
}

var (
	large = graphSize{roots: 7, clusterRoots: 6, circle: 4, dying: 3, fates: 6}
	small = graphSize{roots: 3, clusterRoots: 3, circle: 2, dying: 2, fates: 3}
	// calm is small, without cycles that are being deleted.
	calm = graphSize{roots: 3, clusterRoots: 3, circle: 4}
)

// part is one object.
type part struct {
	make       func(namespace, name string, more ...func(object)) object
	apiVersion string
	kind       string
	space      int // which namespace, or nowhere
	claims     []claim
	finalizers []string
	fate       fate
}

// nowhere is the namespace of cluster-scoped parts.
const nowhere = -1

// spacesOfABlueprint is the number of namespaces of a graph.
const spacesOfABlueprint = 3

// claim is an owner reference. Name and UID are those of parts, by number;
// negative numbers are of nothing.
type claim struct {
	apiVersion, kind string
	name, uid        int
	blocks, controls bool
}

// fate is what happens to a part before a collector reads it.
type fate int

const (
	lives fate = iota
	wasDeleted
	wasReplaced // by another of its name
	inBackground
	inForeground
	isOrphaning
)

// policy returns the propagation policy of a part's deletion.
func (f fate) policy() metav1.DeletionPropagation {
	switch f {
	case inForeground:
		return metav1.DeletePropagationForeground
	case isOrphaning:
		return metav1.DeletePropagationOrphan
	default:
		return metav1.DeletePropagationBackground
	}
}

// draw returns the blueprint of a seed, with about n parts, half of them garbage.
func draw(seed uint64, n int) *blueprint {
	return drawGarbage(seed, n, large)
}

func drawGarbage(seed uint64, n int, m graphSize) *blueprint {
	b := begin(seed, n, 55, m)
	b.fates(m.fates)
	return b
}

// drawSound returns a blueprint with little garbage, in which only cycles are being
// deleted.
func drawSound(seed uint64, n int) *blueprint {
	b := begin(seed, n, 92, large)
	b.makeBlocking()
	b.settle()
	return b
}

func begin(seed uint64, n, sound int, m graphSize) *blueprint {
	b := &blueprint{seed: seed, dice: rand.New(rand.NewPCG(seed, seed)), closed: map[int]bool{}, sound: sound}
	for space := range spacesOfABlueprint {
		for range m.roots {
			b.add(space)
		}
		e := b.addAs(event, space)
		b.parts[e].apiVersion = "events.k8s.io/v1" // as core events they may not own anything
		b.add(space, b.to(e))
	}
	for range m.clusterRoots {
		b.add(nowhere)
	}
	b.cycles(m)
	for len(b.parts) < n {
		b.dependent()
	}
	return b
}

func (b *blueprint) chance(percent int) bool { return b.dice.IntN(100) < percent }

// nothing returns the number of a name or UID that does not exist.
func (b *blueprint) nothing() int {
	b.unreal++
	return -b.unreal
}

func (b *blueprint) space() int {
	if b.chance(20) {
		return nowhere
	}
	return b.dice.IntN(spacesOfABlueprint)
}

// add adds a part of some kind and returns its number.
func (b *blueprint) add(space int, claims ...claim) int {
	if space == nowhere {
		of := clusterKinds[b.dice.IntN(len(clusterKinds))]
		return b.addAs(func(_, name string, more ...func(object)) object { return of(name, more...) }, space, claims...)
	}
	return b.addAs(namespacedKinds[b.dice.IntN(len(namespacedKinds))], space, claims...)
}

func (b *blueprint) addAs(of any, space int, claims ...claim) int {
	p := part{space: space, claims: claims}
	switch of := of.(type) {
	case func(namespace, name string, more ...func(object)) object:
		p.make = of
	case func(namespace, name string) object:
		p.make = func(namespace, name string, _ ...func(object)) object { return of(namespace, name) }
	}
	example := p.make("", "")
	p.apiVersion, p.kind = example.GetAPIVersion(), example.GetKind()
	b.parts = append(b.parts, p)
	return len(b.parts) - 1
}

// to returns a valid reference to a part, or one that is valid until later, in any served
// version.
func (b *blueprint) to(i int) claim {
	c := claim{apiVersion: b.parts[i].apiVersion, kind: b.parts[i].kind, name: i, uid: i, blocks: b.chance(45)}
	switch {
	case strings.HasPrefix(c.apiVersion, customGroup) && b.chance(50):
		c.apiVersion = customGroup + "/v1beta1"
	case strings.HasPrefix(c.apiVersion, "autoscaling/") && b.chance(50):
		c.apiVersion = "autoscaling/v1"
	}
	return c
}

// cycles adds parts that own each other, or themselves.
func (b *blueprint) cycles(m graphSize) {
	for size := 1; size <= m.circle; size++ {
		b.cycle(b.space(), size)
	}
	b.cycle(nowhere, 2)
	if b.sound == 100 {
		return
	}
	// One that a bad reference leaves open, and one that somebody else holds.
	open := b.cycle(b.space(), 3)
	b.parts[open[0]].claims[0].name = b.nothing()
	hung := b.cycle(0, 3)
	b.parts[hung[1]].claims = append(b.parts[hung[1]].claims, b.missing(0))
	// Members that somebody has begun to delete. Whether the others then go at once
	// or wait for what they own is anybody's guess, so what they own must not be
	// held: it has to be all the same in the end.
	for _, f := range []fate{inBackground, inForeground, isOrphaning} {
		for size := 1; size <= m.dying; size++ {
			members := b.isolatedCycle(size)
			i := members[b.dice.IntN(size)]
			b.parts[i].fate = f
			if f == inBackground {
				b.parts[i].finalizers = []string{hold}
			}
		}
	}
	// All of them: these wait for each other for ever, if they block.
	for size := 1; size <= m.dying; size++ {
		for _, i := range b.isolatedCycle(size) {
			b.parts[i].fate = inForeground
		}
	}
}

// isolatedCycle adds a cycle with one or two dependents and no other relations.
func (b *blueprint) isolatedCycle(size int) []int {
	space := b.space()
	members := b.cycle(space, size)
	for _, i := range members {
		b.closed[i] = true
		if b.chance(40) {
			b.closed[b.add(space, b.to(i))] = true
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
		b.parts[member].claims = []claim{b.to(members[(i+1)%size])}
	}
	return members
}

// dependent adds a part with one to three random owners.
func (b *blueprint) dependent() {
	space := b.space()
	var claims []claim
	for range 1 + b.dice.IntN(3) {
		c := b.claim(space)
		// Where two references have one UID and only one is good, we keep that one.
		if !slices.ContainsFunc(claims, func(other claim) bool { return other.uid == c.uid }) {
			claims = append(claims, c)
		}
	}
	claims[0].controls = b.chance(20)
	i := b.add(space, claims...)
	switch {
	case b.chance(10):
		b.parts[i].finalizers = []string{hold}
		if b.chance(50) {
			b.parts[i].fate = inBackground
		}
	case b.chance(4):
		b.parts[i].finalizers = []string{metav1.FinalizerOrphanDependents}
	case b.chance(4):
		b.parts[i].finalizers = []string{metav1.FinalizerDeleteDependents}
	}
}

// claim returns a random reference of a part in a namespace, or of a cluster-scoped one.
func (b *blueprint) claim(space int) claim {
	if b.chance(b.sound) {
		return b.good(space)
	}
	sorts := []func(space int) claim{
		b.missing, b.successor, b.misnamed, b.mistyped, b.elsewhere, b.namespacedForCluster, b.unserved, b.unknown, b.lowerCase,
	}
	return sorts[b.dice.IntN(len(sorts))](space)
}

// good returns a valid reference for a part in a namespace.
func (b *blueprint) good(space int) claim {
	for {
		i := b.dice.IntN(len(b.parts))
		if p := b.parts[i]; !b.closed[i] && (p.space == space || p.space == nowhere) {
			return b.to(i)
		}
	}
}

// watched returns a valid reference to an object that the collector watches: it learns the
// UIDs of others only by chance.
func (b *blueprint) watched(space int) claim {
	for {
		if c := b.good(space); c.kind != "Event" {
			return c
		}
	}
}

func (b *blueprint) missing(space int) claim {
	c := b.watched(space)
	c.name, c.uid = b.nothing(), b.nothing()
	return c
}

// successor returns a reference with the name of an existing part and another UID.
func (b *blueprint) successor(space int) claim {
	c := b.watched(space)
	c.uid = b.nothing()
	return c
}

// misnamed returns a reference with the UID of one part and the name of another or of none.
func (b *blueprint) misnamed(space int) claim {
	c := b.watched(space)
	c.name = b.nothing()
	if b.chance(50) {
		other := b.watched(space)
		c.apiVersion, c.kind, c.name = other.apiVersion, other.kind, other.name
	}
	return c
}

func (b *blueprint) mistyped(space int) claim {
	c := b.watched(space)
	c.apiVersion, c.kind = "v1", "Service"
	if b.chance(50) {
		c.kind = "Node"
	}
	return c
}

func (b *blueprint) elsewhere(space int) claim {
	for {
		i := b.dice.IntN(len(b.parts))
		if p := b.parts[i]; !b.closed[i] && p.space != nowhere && p.space != space && p.kind != "Event" {
			return b.to(i)
		}
	}
}

func (b *blueprint) namespacedForCluster(space int) claim {
	switch {
	case space != nowhere:
		return b.missing(space)
	case b.chance(50):
		return b.elsewhere(space)
	}
	return claim{apiVersion: "v1", kind: "Secret", name: b.nothing(), uid: b.nothing()}
}

func (b *blueprint) unserved(space int) claim {
	c := b.watched(space)
	switch b.dice.IntN(3) {
	case 0:
		c.apiVersion = "old.example.com/v1beta1"
	case 1:
		c.apiVersion, c.kind = customGroup+"/v1alpha1", "Gadget"
	case 2:
		c.apiVersion, c.kind, c.uid = "apps/v1beta1", "Deployment", b.nothing()
	}
	return c
}

func (b *blueprint) unknown(space int) claim {
	c := b.watched(space)
	switch b.dice.IntN(4) {
	case 0:
		c.apiVersion, c.kind, c.uid = "none.example.com/v1", "Nothing", b.nothing()
	case 1:
		c.apiVersion, c.kind = "v1", "Nothing"
	case 2:
		c.kind = strings.ToUpper(c.kind)
	case 3:
		c.kind += "s"
	}
	return c
}

func (b *blueprint) lowerCase(space int) claim {
	c := b.good(space)
	c.kind = strings.ToLower(c.kind)
	if b.chance(30) {
		c.uid = b.nothing()
	}
	return c
}

// fates decides what happens to some of the parts.
func (b *blueprint) fates(n int) {
	var free []int
	for i, p := range b.parts {
		if p.fate == lives && len(p.finalizers) == 0 && p.kind != "Event" && !b.closed[i] {
			free = append(free, i)
		}
	}
	b.dice.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	next := func(f fate, finalizers ...string) int {
		i := free[0]
		free = free[1:]
		b.parts[i].fate, b.parts[i].finalizers = f, finalizers
		return i
	}
	for range n {
		next(wasDeleted)
		next(wasReplaced)
	}
	for range n - 1 {
		next(inForeground)
		next(isOrphaning)
	}
	for range n / 3 {
		next(inForeground, hold)
		next(isOrphaning, hold)
		next(inBackground, hold)
		// A dependent that never goes.
		i := next(inForeground)
		b.heldBlocker(i)
	}
	b.makeBlocking()
	b.settle()
}

// makeBlocking lets what is owned by parts that wait for it block these, unless it is of
// the same kind. A collector that begins while an owner waits looks at the
// dependents that block, and at those of which it hears earlier than of the
// owner. Objects of one kind come in another order each time, but between kinds
// the order is the same as a rule, so no number of runs would show both ends.
func (b *blueprint) makeBlocking() {
	for i := range b.parts {
		for k := range b.parts[i].claims {
			c := &b.parts[i].claims[k]
			if c.uid >= 0 && b.parts[c.uid].fate == inForeground && b.parts[c.uid].kind != b.parts[i].kind {
				c.blocks = true
			}
		}
	}
}

func (b *blueprint) heldBlocker(owner int) {
	c := b.to(owner)
	c.blocks = true
	space := b.parts[owner].space
	if space == nowhere {
		space = b.dice.IntN(spacesOfABlueprint)
	}
	i := b.add(space, c)
	b.parts[i].finalizers = []string{hold}
}

// settle removes the other references of dependents of an orphaning part that is not being
// deleted yet. Otherwise the result depends on the order: if the collector removes a
// dependent's invalid references first, the dependent stays; if it orphans it first, only
// the invalid ones are left, and it deletes the dependent.
func (b *blueprint) settle() {
	b.single(func(owner part) bool {
		return owner.fate == lives && slices.Contains(owner.finalizers, metav1.FinalizerOrphanDependents)
	})
}

// share avoids results that two concurrent collectors reach only together: a dependent that
// one orphans while the other removes its invalid references stays without owners, while
// either alone would delete it.
func (b *blueprint) share() *blueprint {
	b.single(func(owner part) bool { return owner.fate == isOrphaning })
	return b
}

// single removes all other references from dependents of such owners.
func (b *blueprint) single(such func(owner part) bool) {
	for i := range b.parts {
		for _, c := range b.parts[i].claims {
			if c.uid >= 0 && such(b.parts[c.uid]) {
				b.parts[i].claims = []claim{c}
				break
			}
		}
	}
}
