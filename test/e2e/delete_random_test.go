package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
)

// TestDeleteInRandomGraphsEndsAsPredicted deletes targets of any kind, each with its own policy,
// in random graphs in which the real collector is idle. Objects that the preview calls
// nondeterministic may end in any state.
func TestDeleteInRandomGraphsEndsAsPredicted(t *testing.T) {
	s := withRealCollector.newScene(t)
	s.defineTestKinds()
	seeds := graphs(t, 7001, 7002, 7003, 7004, 7005, 7006, 7007, 7008)
	var built []*builtGraph
	for _, seed := range seeds {
		built = append(built, drawSound(seed, 90).avoidConcurrentResults().build(s, 0)...)
	}
	s.startRealCollector()
	s.awaitIdle(built...)

	scanned := s.scan(scan.Scope{Running: true})
	owns := map[types.UID]int{}
	for _, o := range scanned.seen.Objects {
		owns[o.UID] = 0
	}
	for _, o := range scanned.seen.Objects {
		for _, r := range o.Owners {
			if n, there := owns[r.UID]; there {
				owns[r.UID] = n + 1
			}
		}
	}
	var all []*deletion
	for i, g := range built {
		d := chooseTargets(seeds[i], g, owns)
		d.preview(scanned)
		all = append(all, d)
	}
	for _, d := range all {
		d.begin(s)
	}
	reportDeletions(t, all, awaitPredicted(s, built[0].namespaces[0], all))
}

// chooseTargets chooses the objects to delete, most of them owners.
//
// It avoids choices for which the real collector itself is nondeterministic: a dependent of two
// owners, one that orphans it and one that is deleted, so all targets of a graph are orphaned
// or none is; and two targets in one cycle.
func chooseTargets(seed uint64, g *builtGraph, owns map[types.UID]int) *deletion {
	dice := rand.New(rand.NewPCG(seed, 2*seed))
	d := &deletion{name: fmt.Sprintf("%s=%d", seedVariable, seed), namespaces: g.namespaces}
	policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}
	if dice.IntN(3) == 0 {
		policies = []metav1.DeletionPropagation{metav1.DeletePropagationOrphan}
	}
	var chosen []int
	for _, n := range dice.Perm(len(g.parts)) {
		policy := policies[dice.IntN(len(policies))]
		dependents, there := owns[g.objects[n].GetUID()]
		if slices.ContainsFunc(chosen, func(other int) bool { return g.reaches(n, other) && g.reaches(other, n) }) {
			continue
		}
		if there && len(d.targets) < 16 && (dependents > 0 || len(d.targets) >= 12) && g.parts[n].kind != "Event" {
			chosen = append(chosen, n)
			d.targets, d.policy = append(d.targets, g.objects[n]), append(d.policy, policy)
		}
	}
	for _, o := range slices.Concat(g.objects, g.successors) {
		if o.Unstructured != nil && o.GetNamespace() == "" {
			d.also = append(d.also, o)
		}
	}
	return d
}

// reaches reports whether a part is a direct or indirect owner of another.
func (b *blueprint) reaches(from, to int) bool {
	seen := map[int]bool{from: true}
	for next := []int{from}; len(next) > 0; {
		n := next[0]
		next = next[1:]
		for _, c := range b.parts[n].refs {
			if c.uid == to {
				return true
			}
			if c.uid >= 0 && !seen[c.uid] {
				seen[c.uid] = true
				next = append(next, c.uid)
			}
		}
	}
	return false
}
