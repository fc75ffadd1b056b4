package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// hold is a finalizer that is never removed.
const hold = "e2e.kubectl-gc.dev/hold"

// random is a random cluster with valid, invalid and unusual owner references.
type random struct {
	*scene
	dice       *rand.Rand
	seed       uint64
	namespaces []string
	// settles leaves out references for which the real collector is nondeterministic, those that
	// its deletion policies change, and invalid names.
	settles bool

	owners  []object // possible owners of further objects
	leaving []object // owners that will be deleted in the foreground
	last    int
}

// newRandom creates about n objects.
func newRandom(s *scene, seed uint64, n int, settles bool) *random {
	s.Helper()
	s.defineTestKinds()
	g := &random{scene: s, dice: rand.New(rand.NewPCG(seed, seed)), seed: seed, settles: settles}
	for range 3 {
		g.namespaces = append(g.namespaces, s.namespace("random"))
	}
	g.createOwners()
	g.cycles()
	for len(s.created) < n {
		g.dependent()
	}
	g.replaceAndDelete()
	return g
}

// namespacedKinds and clusterKinds are the kinds of the objects in a graph. No controller acts on
// any of them.
var (
	namespacedKinds = []func(namespace, name string, more ...func(object)) object{
		configMap, secret, role, lease, podTemplate, autoscaler, widget, widget, pod,
	}
	clusterKinds = []func(name string, more ...func(object)) object{gadget, gadget, clusterRole, priorityClass}
)

func pick[T any](g *random, from []T) T { return from[g.dice.IntN(len(from))] }

func (g *random) chance(percent int) bool { return g.dice.IntN(100) < percent }

func (g *random) name() string {
	g.last++
	return fmt.Sprintf("r%d-%d", g.seed%1_000_000, g.last)
}

func (g *random) uid() types.UID {
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", g.dice.Uint64()&0xffffffffffff))
}

func (g *random) createRandom(namespace string, more ...func(object)) object {
	if namespace == "" {
		return pick(g, clusterKinds)(g.name(), more...)
	}
	return pick(g, namespacedKinds)(namespace, g.name(), more...)
}

// createOwners creates objects without owners.
func (g *random) createOwners() {
	for _, ns := range g.namespaces {
		for range 8 {
			g.owners = append(g.owners, g.create(g.createRandom(ns)))
		}
		e := g.create(event(ns, g.name()))
		e.SetAPIVersion("events.k8s.io/v1") // an Event of the core group cannot own anything
		g.owners = append(g.owners, e, g.create(g.createRandom(ns, ownedBy(referenceTo(e)))))
	}
	for range 6 {
		g.owners = append(g.owners, g.create(g.createRandom("")))
	}
	for i := range g.namespaces {
		g.leaving = append(g.leaving, g.owners[i*10])
	}
	g.leaving = append(g.leaving, g.owners[len(g.owners)-1])
}

// cycles creates objects that own each other, or themselves.
func (g *random) cycles() {
	for size := 1; size <= 5; size++ {
		g.cycle(pick(g, g.namespaces), size)
	}
	g.cycle("", 2)
	g.cycle("", 1)
	// Two cycles that share a member, and one with an invalid reference.
	joined := g.cycle(pick(g, g.namespaces), 3)
	g.setOwners(joined[0], referenceTo(joined[1], blocking), referenceTo(joined[2]))
	open := g.cycle(pick(g, g.namespaces), 3)
	g.setOwners(open[0], referenceTo(open[1], named("another")))
	// A cycle with one member that also refers to an owner that does not exist.
	withMissing := g.cycle(pick(g, g.namespaces), 2)
	g.setOwners(withMissing[0], referenceTo(withMissing[1]), reference("v1", "ConfigMap", g.name(), g.uid()))
	// An object that owns itself under another name.
	self := g.cycle(pick(g, g.namespaces), 1)
	g.setOwners(self[0], referenceTo(self[0], named("another")))
	// A cycle with a terminating member.
	terminating := g.cycle(pick(g, g.namespaces), 3, heldBy(hold))
	g.remove(terminating[1], metav1.DeletePropagationBackground)
	alone := g.cycle(pick(g, g.namespaces), 1, heldBy(hold))
	g.remove(alone[0], metav1.DeletePropagationBackground)
}

func (g *random) cycle(namespace string, size int, more ...func(object)) []object {
	members := make([]object, size)
	for i := range members {
		members[i] = g.create(g.createRandom(namespace, more...))
	}
	for i := range members {
		refs := []metav1.OwnerReference{referenceTo(members[(i+1)%size])}
		if g.chance(50) {
			blocking(&refs[0])
		}
		members[i] = g.setOwners(members[i], refs...)
	}
	if len(more) == 0 && !g.settles {
		g.owners = append(g.owners, members[0])
	}
	return members
}

// dependent creates an object with one to three random owners.
func (g *random) dependent() {
	namespace := ""
	if !g.chance(20) {
		namespace = pick(g, g.namespaces)
	}
	var refs []metav1.OwnerReference
	for range 1 + g.dice.IntN(3) {
		refs = append(refs, g.references(namespace)...)
	}
	refs = g.distinct(refs)
	if len(refs) > 0 && g.chance(20) {
		controlling(&refs[0])
	}
	o := g.createRandom(namespace, ownedBy(refs...))
	switch {
	case g.chance(12):
		heldBy(hold)(o)
		o = g.create(o)
		if g.chance(50) {
			g.remove(o, metav1.DeletePropagationBackground)
		}
		if !g.settles {
			g.owners = append(g.owners, o)
		}
	default:
		g.owners = append(g.owners, g.create(o))
	}
}

// distinct removes exact duplicates, as the API server does, and every fourth reference with one
// UID. If the graph has to settle, it leaves only one reference per UID: removing an invalid
// reference removes a valid one with the same UID, and whether that happens before another owner
// is gone is nondeterministic.
func (g *random) distinct(refs []metav1.OwnerReference) []metav1.OwnerReference {
	most := 3
	if g.settles {
		most = 1
	}
	seen := map[string]bool{}
	count := map[types.UID]int{}
	var out []metav1.OwnerReference
	for _, r := range refs {
		if key := r.String(); !seen[key] && count[r.UID] < most {
			seen[key] = true
			count[r.UID]++
			out = append(out, r)
		}
	}
	return out
}

// references returns one reference of a random kind for an object in namespace, or two or three
// with one UID. There may be no reference of that kind.
func (g *random) references(namespace string) []metav1.OwnerReference {
	owners := g.possibleOwners(namespace)
	if g.chance(45) { // a reference that is valid, at least until its owner is deleted
		return []metav1.OwnerReference{g.validRef(owners)}
	}
	// Whether the collector knows the UID of an object that it does not list is nondeterministic.
	owners = slices.DeleteFunc(owners, func(o object) bool { return o.GetKind() == "Event" })
	kinds := []func(namespace string, owners []object) []metav1.OwnerReference{
		g.missing, g.replaced, g.misnamed, g.mistyped, g.otherNamespace, g.namespacedForCluster,
		g.unserved, g.unknown, g.lowerCase, g.listKind, g.twoWithOneUID,
	}
	if !g.settles {
		kinds = append(kinds, g.invalidName)
	}
	return pick(g, kinds)(namespace, owners)
}

// possibleOwners returns the possible owners of an object in namespace.
func (g *random) possibleOwners(namespace string) []object {
	var out []object
	for _, o := range g.owners {
		if o.GetNamespace() == namespace || o.GetNamespace() == "" {
			out = append(out, o)
		}
	}
	return out
}

func (g *random) validRef(at []object) metav1.OwnerReference {
	r := referenceTo(pick(g, at))
	// A collector that starts while an owner waits may skip the dependents that do not block it.
	if g.chance(40) || g.settles && g.willBeDeleted(r.UID) {
		blocking(&r)
	}
	// Any served version is valid.
	switch {
	case strings.HasPrefix(r.APIVersion, customGroup) && g.chance(50):
		r.APIVersion = customGroup + "/v1beta1"
	case strings.HasPrefix(r.APIVersion, "autoscaling/") && g.chance(50):
		r.APIVersion = "autoscaling/v1"
	}
	return r
}

func (g *random) willBeDeleted(uid types.UID) bool {
	return slices.ContainsFunc(g.leaving, func(o object) bool { return o.GetUID() == uid })
}

func (g *random) missing(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	r.Name, r.UID = g.name(), g.uid()
	return []metav1.OwnerReference{r}
}

func (g *random) replaced(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	r.UID = g.uid()
	return []metav1.OwnerReference{r}
}

// misnamed returns a reference with the UID of one object and the name of another, or a name that
// does not exist.
func (g *random) misnamed(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	r.Name = g.name()
	if g.chance(50) {
		other := g.validRef(at)
		r.APIVersion, r.Kind, r.Name = other.APIVersion, other.Kind, other.Name
	}
	return []metav1.OwnerReference{r}
}

func (g *random) mistyped(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	r.APIVersion, r.Kind = "v1", "Service"
	if g.chance(50) {
		r.Kind = "Node"
	}
	return []metav1.OwnerReference{r}
}

func (g *random) otherNamespace(namespace string, _ []object) []metav1.OwnerReference {
	var other []object
	for _, o := range g.owners {
		if o.GetNamespace() != namespace && o.GetNamespace() != "" && o.GetKind() != "Event" {
			other = append(other, o)
		}
	}
	r := g.validRef(other)
	if namespace != "" && g.chance(30) {
		g.owners = append(g.owners, g.create(widget(namespace, g.name()))) // a possible owner of other objects in its namespace
		r.APIVersion, r.Kind, r.Name = customGroup+"/v1", "Widget", g.owners[len(g.owners)-1].GetName()
	}
	return []metav1.OwnerReference{r}
}

func (g *random) namespacedForCluster(namespace string, at []object) []metav1.OwnerReference {
	switch {
	case namespace != "":
		return g.missing(namespace, at)
	case g.chance(50):
		return []metav1.OwnerReference{reference(customGroup+"/v1alpha1", "Widget", g.name(), g.uid())}
	}
	return []metav1.OwnerReference{reference("v1", "Secret", g.name(), g.uid())}
}

func (g *random) unserved(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	switch g.dice.IntN(3) {
	case 0:
		r.APIVersion = "old.example.com/v1beta1"
	case 1:
		r.APIVersion, r.Kind = customGroup+"/v1alpha1", "Gadget"
	case 2:
		r.APIVersion, r.Kind, r.UID = "apps/v1beta1", "Deployment", g.uid()
	}
	return []metav1.OwnerReference{r}
}

func (g *random) unknown(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	switch g.dice.IntN(4) {
	case 0:
		r.APIVersion, r.Kind, r.UID = "none.example.com/v1", "Nothing", g.uid()
	case 1:
		r.APIVersion, r.Kind = "v1", "Nothing"
	case 2:
		r.Kind = strings.ToUpper(r.Kind)
	case 3:
		r.Kind += "s"
	}
	return []metav1.OwnerReference{r}
}

func (g *random) lowerCase(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	r.Kind = strings.ToLower(r.Kind)
	if g.chance(30) {
		r.UID = g.uid()
	}
	return []metav1.OwnerReference{r}
}

func (g *random) listKind(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	r.Kind += "List"
	if g.chance(20) {
		r.APIVersion, r.Kind = "v1", "List"
	}
	return []metav1.OwnerReference{r}
}

// twoWithOneUID returns two references with one UID.
func (g *random) twoWithOneUID(_ string, at []object) []metav1.OwnerReference {
	one := g.validRef(at)
	two := one
	switch g.dice.IntN(3) {
	case 0:
		blocking(&one)
		two.BlockOwnerDeletion = nil
	case 1:
		two.Name = g.name()
	case 2:
		two.APIVersion, two.Kind = "v1", "Service"
	}
	if g.chance(50) {
		one, two = two, one
	}
	refs := []metav1.OwnerReference{one, two}
	if g.chance(30) {
		third, blocks := one, one.BlockOwnerDeletion == nil
		third.BlockOwnerDeletion = &blocks
		refs = append(refs, third)
	}
	return refs
}

// invalidName returns a reference whose name is not a valid path segment.
func (g *random) invalidName(_ string, at []object) []metav1.OwnerReference {
	r := g.validRef(at)
	r.Name = pick(g, []string{"../" + r.Name, r.Name + "/status", "..", "%2e%2e%2f" + r.Name})
	return []metav1.OwnerReference{r}
}

// replaceAndDelete replaces some owners, deletes some, and begins deletions that never
// complete.
func (g *random) replaceAndDelete() {
	g.dice.Shuffle(len(g.owners), func(i, j int) { g.owners[i], g.owners[j] = g.owners[j], g.owners[i] })
	next := func() (o object) {
		for {
			o, g.owners = g.owners[0], g.owners[1:]
			if o.GetKind() != "Event" && len(o.GetFinalizers()) == 0 && !g.willBeDeleted(o.GetUID()) {
				return o
			}
		}
	}
	for range 5 {
		g.replace(next())
	}
	for range 5 {
		g.remove(next(), metav1.DeletePropagationBackground)
	}
	for _, o := range g.leaving {
		g.deleteInForeground(o)
	}
	if g.settles {
		return
	}
	for range 2 {
		g.remove(next(), metav1.DeletePropagationOrphan)
	}
	// Cycles of one to three objects in foreground deletion.
	for size := 1; size <= 3; size++ {
		for _, o := range g.cycle(pick(g, g.namespaces), size) {
			g.remove(o, metav1.DeletePropagationForeground)
		}
	}
}

// deleteInForeground begins a foreground deletion that never completes, because a blocking
// dependent is held by a finalizer.
func (g *random) deleteInForeground(o object) {
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = pick(g, g.namespaces)
	}
	g.create(g.createRandom(namespace, ownedBy(referenceTo(o, blocking)), heldBy(hold)))
	g.remove(o, metav1.DeletePropagationForeground)
}
