package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/plane"
)

// copiesOfAGraph is how often each random graph is built, and its targets deleted.
const copiesOfAGraph = 3

// TestDeleteInRandomGraphsEndsAsForetold lets somebody delete targets of any sort,
// each with a policy of its own, in random graphs in which the real collector has
// come to rest.
//
// Where it comes to one end in one copy of a graph and to another in another, what
// was foretold is the end in one of them, object by object. What the preview itself
// calls a matter of luck may end as it likes.
func TestDeleteInRandomGraphsEndsAsForetold(t *testing.T) {
	usual := make([]uint64, 20)
	for i := range usual {
		usual[i] = uint64(7001 + i)
	}
	seeds := graphs(t, usual...)
	s := opposite(t)
	s.custom()
	var all []*deletion
	built := map[uint64][]*building{}
	for _, seed := range seeds {
		copies := make([]int, copiesOfAGraph)
		for i := range copies {
			copies[i] = i
		}
		built[seed] = draw(seed, 70).share().build(s, copies...)
	}
	s.switched(plane.On)
	defer s.switched(plane.Absent)
	var every []*building
	for _, seed := range seeds {
		every = append(every, built[seed]...)
	}
	s.settled(every...)

	seen := s.sees(cluster.Scope{Running: true})
	there := map[types.UID]bool{}
	for _, o := range seen.seen.Objects {
		there[o.UID] = true
	}
	of := map[*building]*deletion{}
	for _, seed := range seeds {
		chosen := aim(seed, built[seed], there)
		for _, g := range built[seed] {
			d := &deletion{name: fmt.Sprintf("%s=%d, copy %d", seedVariable, seed, g.copy), spaces: g.spaces, policy: chosen.policy}
			for _, n := range chosen.parts {
				d.targets = append(d.targets, g.objects[n])
			}
			for _, o := range slices.Concat(g.objects, g.others) {
				if o.Unstructured != nil && o.GetNamespace() == "" {
					d.also = append(d.also, o)
				}
			}
			d.foretell(seen)
			of[g] = d
			all = append(all, d)
		}
	}
	for _, d := range all {
		d.begin(s)
	}
	now := became(s, every[0].spaces[0], all)

	racy, lucky := 0, 0
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			wrong := map[string][]string{}
			for _, g := range built[seed] {
				d := of[g]
				unsure := d.unsure()
				for _, uid := range d.unlike(now) {
					if unsure[uid] {
						lucky++
						continue
					}
					role := g.members[uid]
					wrong[role] = append(wrong[role], d.story(uid, now))
				}
			}
			for role, stories := range wrong {
				if len(stories) < copiesOfAGraph {
					racy++
					t.Logf("%s came to another end in %d of %d copies: %s", role, len(stories), copiesOfAGraph, stories[0])
					continue
				}
				t.Errorf("%s: %s", role, strings.Join(stories, "\n"))
			}
		})
	}
	objects, gone := 0, 0
	for _, d := range all {
		objects += len(d.foretold)
		gone += countOf(d.foretold, "gone")
	}
	t.Logf("%d objects in %d graphs, of which %d were to go; %d were foretold as a matter of luck and were lucky, %d came to another end in some copy", objects, len(all), gone, lucky, racy)
}

// aimed are parts of a graph that somebody asks to delete.
type aimed struct {
	parts  []int
	policy []metav1.DeletionPropagation
}

// aim chooses targets that are there in every copy.
//
// Left out is what the real collector is known to bring to different ends (see
// docs/differences.md): a dependent of two owners of which one lets go of it and
// the other is gone. So all targets of a graph that orphan are of one graph, and
// those that do not of another.
func aim(seed uint64, copies []*building, there map[types.UID]bool) aimed {
	dice := rand.New(rand.NewPCG(seed, 2*seed))
	var out aimed
	orphans := dice.IntN(3) == 0
	for len(out.parts) < 6 {
		n := dice.IntN(len(copies[0].parts))
		missing := slices.ContainsFunc(copies, func(g *building) bool { return !there[g.objects[n].GetUID()] })
		if missing || slices.Contains(out.parts, n) {
			continue
		}
		policy := metav1.DeletePropagationOrphan
		if !orphans {
			policy = []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}[dice.IntN(2)]
		}
		out.parts, out.policy = append(out.parts, n), append(out.policy, policy)
	}
	return out
}
