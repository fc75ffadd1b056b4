package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// churnOperation is one write of a random workload. It is about the object with the number of.
type churnOperation struct {
	do     churnVerb
	of     int
	at     churnPlace       // of create
	owners []churnReference // of create and setOwners
	policy metav1.DeletionPropagation
	held   bool // of create and setFinalizer: by a finalizer of nobody
}

type churnVerb string

const (
	churnCreate       churnVerb = "create"
	churnDelete       churnVerb = "delete"
	churnSetOwners    churnVerb = "set the owners of"
	churnSetFinalizer churnVerb = "set the finalizer of"
	churnInstall      churnVerb = "install the CRD of"   // a kind by its number
	churnUninstall    churnVerb = "uninstall the CRD of" // with its objects
)

// churnReference is an owner reference. The owner 0 does not exist.
type churnReference struct {
	owner  int
	blocks bool
}

func (o churnOperation) String() string {
	return fmt.Sprintf("%s %d %v %s %v", o.do, o.of, o.owners, o.policy, o.held)
}

// churnPlace is where an object is, by numbers.
type churnPlace struct{ kind, namespace int }

// churnObject is what the workload knows of an object that exists.
type churnObject struct {
	churnPlace
	owners      []churnReference
	held        bool
	terminating bool
}

// churnWorkload draws operations whose result does not depend on when the collector acts: once an
// object may be deleted, or may lose a reference, it and all that is connected to it is left alone
// until the collector is at rest. Objects that are not connected change meanwhile.
type churnWorkload struct {
	random  *rand.Rand
	objects map[int]*churnObject
	frozen  map[int]bool
	// fresh are the objects whose owners were set since the collector was at rest. The real collector
	// may not have seen that yet: then it removes no references from them when an owner is deleted with
	// the policy Orphan, deletes them later, and does not wait for them when one is deleted in the
	// foreground.
	fresh map[int]bool
	last  int // number of the latest object
	// custom are the kinds of CRDs that are installed.
	custom  map[int]bool
	customs bool // whether CRDs come and go
}

// The kinds of objects, by number. Those from churnFirstCustom on are custom.
var churnKinds = []string{"ConfigMap", "Secret", "ServiceAccount", "Thing", "Part"}

const (
	churnFirstCustom = 3
	churnNamespaces  = 3
)

func newChurnWorkload(seed uint64, customs bool) *churnWorkload {
	return &churnWorkload{customs: customs, random: rand.New(rand.NewPCG(seed, seed)), objects: map[int]*churnObject{}, frozen: map[int]bool{}, fresh: map[int]bool{}, custom: map[int]bool{}}
}

// epoch draws the operations until the next rest.
func (w *churnWorkload) epoch(n int) []churnOperation {
	clear(w.frozen)
	clear(w.fresh)
	var out []churnOperation
	for kind := churnFirstCustom; kind < len(churnKinds); kind++ {
		if w.customs && !w.custom[kind] && w.random.IntN(2) == 0 {
			w.custom[kind] = true
			out = append(out, churnOperation{do: churnInstall, of: kind})
		}
	}
	for len(out) < n {
		if o, ok := w.operation(); ok {
			out = append(out, o)
		}
	}
	for kind := churnFirstCustom; kind < len(churnKinds); kind++ {
		if w.custom[kind] && w.random.IntN(4) == 0 && w.mayUninstall(kind) {
			delete(w.custom, kind)
			out = append(out, churnOperation{do: churnUninstall, of: kind})
			maps.DeleteFunc(w.objects, func(_ int, o *churnObject) bool { return o.kind == kind })
		}
	}
	return out
}

// mayUninstall reports whether nothing depends on objects of a kind and nothing holds them: when
// instances of a CRD go with it, what becomes of their dependents is a race in the real collector.
func (w *churnWorkload) mayUninstall(kind int) bool {
	for n, o := range w.objects {
		if o.kind != kind {
			continue
		}
		if o.held || w.frozen[n] || len(w.dependents(n)) > 0 {
			return false
		}
	}
	return true
}

func (w *churnWorkload) operation() (churnOperation, bool) {
	switch draw := w.random.IntN(100); {
	case draw < 50 || len(w.objects) < 20:
		return w.create(), true
	case draw < 72:
		n, ok := w.pick(func(_ int, o *churnObject) bool { return !o.terminating })
		if !ok {
			return churnOperation{}, false
		}
		policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground}
		if !w.foregroundRaces(n) {
			policies = append(policies, metav1.DeletePropagationForeground)
		}
		if !slices.ContainsFunc(w.dependents(n), func(d int) bool { return w.fresh[d] }) {
			policies = append(policies, metav1.DeletePropagationOrphan)
		}
		w.freeze(n)
		return churnOperation{do: churnDelete, of: n, policy: policies[w.random.IntN(len(policies))]}, true
	case draw < 86:
		n, ok := w.pick(func(_ int, o *churnObject) bool { return !o.terminating })
		if !ok {
			return churnOperation{}, false
		}
		return w.setOwners(n), true
	default:
		n, ok := w.pick(func(int, *churnObject) bool { return true })
		if !ok {
			return churnOperation{}, false
		}
		o := w.objects[n]
		if !o.held && o.terminating {
			return churnOperation{}, false // the server refuses new finalizers then
		}
		o.held = !o.held
		if o.terminating {
			w.freeze(n)
		}
		return churnOperation{do: churnSetFinalizer, of: n, held: o.held}, true
	}
}

// foregroundRaces reports whether the end of a foreground deletion depends on when the collector acts.
// An owner does not wait for dependents that do not block it. While it waits for others, the collector
// deletes such a dependent, in the foreground if that has dependents itself, or removes its reference.
// Afterwards the owner is an owner as any other if a finalizer holds it, and is gone otherwise, and the
// dependent is deleted in the background. This shows at rest only where something is held.
//
// What is being deleted already is another reason: an owner with such a dependent does not block its own
// owner's deletion any more if that dependent was deleted in the foreground. The real collector remembers that after the
// finalizer is gone (docs/gc-semantics.md, "Graph"), and nobody else can know it.
func (w *churnWorkload) foregroundRaces(n int) bool {
	below, held, unsure := map[int]bool{n: true}, w.objects[n].held, false
	for next := []int{n}; len(next) > 0; {
		owner := next[0]
		next = next[1:]
		for _, d := range w.dependents(owner) {
			o := w.objects[d]
			unsure = unsure || o.terminating || w.fresh[d] || slices.Contains(o.owners, churnReference{owner: owner, blocks: false})
			held = held || o.held
			if !below[d] {
				below[d], next = true, append(next, d)
			}
		}
	}
	return held && unsure
}

func (w *churnWorkload) create() churnOperation {
	kinds := w.kinds()
	w.last++
	o := &churnObject{churnPlace: churnPlace{kinds[w.random.IntN(len(kinds))], w.random.IntN(churnNamespaces)}, held: w.random.IntN(12) == 0}
	o.owners = w.drawOwners(w.last, o)
	w.objects[w.last] = o
	w.fresh[w.last] = true
	if w.isBad(o) {
		w.freeze(w.last)
	}
	return churnOperation{do: churnCreate, of: w.last, at: o.churnPlace, owners: o.owners, held: o.held}
}

// kinds returns the built-in kinds, and the custom ones that are installed.
func (w *churnWorkload) kinds() []int {
	kinds := []int{0, 1, 2}
	for kind := churnFirstCustom; kind < len(churnKinds); kind++ {
		if w.custom[kind] {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (w *churnWorkload) setOwners(n int) churnOperation {
	o := w.objects[n]
	o.owners = w.drawOwners(n, o)
	w.fresh[n] = true
	if w.isBad(o) {
		w.freeze(n)
	}
	return churnOperation{do: churnSetOwners, of: n, owners: o.owners}
}

// drawOwners draws references to older objects, so that there are no cycles. Some lead to nothing, or to
// another namespace, but then not to a fresh object: if the real collector has not seen that yet, it looks for it in the
// dependent's namespace, finds nothing, and never knows it as the owner of that dependent.
func (w *churnWorkload) drawOwners(n int, o *churnObject) []churnReference {
	var out []churnReference
	for range w.random.IntN(4) {
		owner, ok := 0, true
		if w.random.IntN(15) > 0 {
			owner, ok = w.pick(func(n int, other *churnObject) bool {
				return !other.terminating && (other.namespace == o.namespace || !w.fresh[n] && w.random.IntN(30) == 0)
			})
		}
		if ok && owner < n && !slices.ContainsFunc(out, func(r churnReference) bool { return r.owner == owner }) {
			out = append(out, churnReference{owner, w.random.IntN(2) == 0})
		}
	}
	return out
}

// isBad reports whether the collector changes or deletes an object because of its references.
func (w *churnWorkload) isBad(o *churnObject) bool {
	return slices.ContainsFunc(o.owners, func(r churnReference) bool {
		return r.owner == 0 || w.objects[r.owner].namespace != o.namespace
	})
}

// pick draws one of the objects that are not frozen.
func (w *churnWorkload) pick(fits func(int, *churnObject) bool) (int, bool) {
	if w.last == 0 {
		return 0, false
	}
	for range 20 {
		n := 1 + w.random.IntN(w.last)
		if w.last > 60 && w.random.IntN(2) == 0 {
			n = w.last - w.random.IntN(60) // recent objects have something in common
		}
		if o := w.objects[n]; o != nil && !w.frozen[n] && fits(n, o) {
			return n, true
		}
	}
	return 0, false
}

// freeze freezes an object, all that depends on it, and the owners of these.
func (w *churnWorkload) freeze(n int) {
	if w.frozen[n] || w.objects[n] == nil {
		return
	}
	w.frozen[n] = true
	for _, r := range w.objects[n].owners {
		w.freeze(r.owner)
	}
	for _, d := range w.dependents(n) {
		w.freeze(d)
	}
}

func (w *churnWorkload) dependents(n int) []int {
	var out []int
	for d, o := range w.objects {
		if slices.ContainsFunc(o.owners, func(r churnReference) bool { return r.owner == n }) {
			out = append(out, d)
		}
	}
	return out
}

// untouched returns the objects that must be as the workload left them.
func (w *churnWorkload) untouched() []int {
	var out []int
	for n, o := range w.objects {
		if !w.frozen[n] && !o.terminating {
			out = append(out, n)
		}
	}
	return out
}

// adopt takes over what is there at rest.
func (w *churnWorkload) adopt(state map[int]churnState) {
	for n, o := range w.objects {
		now, exists := state[n]
		if !exists {
			delete(w.objects, n)
			continue
		}
		o.terminating, o.held = now.Terminating, slices.Contains(now.Finalizers, churnFinalizer)
		o.owners = nil
		for i, owner := range now.Owners {
			o.owners = append(o.owners, churnReference{owner, now.Blocks[i]})
		}
	}
}

// churnState is an object at rest.
type churnState struct {
	Owners      []int // 0: it does not exist
	Blocks      []bool
	Finalizers  []string
	Terminating bool
}

const churnFinalizer = "example.com/churn"
