package e2e

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// switchCollector starts or stops the collector of the scene's environment.
func (s *scene) switchCollector(to string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
	defer cancel()
	if err := s.controlPlane.SetCollector(ctx, to); err != nil {
		s.Errorf("switch the collector to %s: %v", to, err)
	}
}

// startRealCollector runs the real collector until the test ends.
func (s *scene) startRealCollector() {
	s.Helper()
	s.Cleanup(func() { s.switchCollector(testcluster.Absent) })
	s.switchCollector(testcluster.On)
}

// awaitSentinel creates an object that is garbage and waits until the collector has deleted it.
// By then the collector has processed everything created before.
func (s *scene) awaitSentinel(namespace string) {
	s.Helper()
	last := s.create(configMap(namespace, "sentinel", ownedBy(reference("v1", "Secret", "gone", "gone"))))
	s.await("the sentinel to be collected", func(context.Context) (bool, error) { return s.gone(last), nil })
}

// awaitIdle waits until the real collector is idle, and returns the states of the graphs: the
// collector has processed the last sentinel, and nothing has changed since the sentinel before.
func (s *scene) awaitIdle(gs ...*builtGraph) []graphState {
	s.Helper()
	var last []graphState
	quiet := 0
	s.await("the collector to settle", func(ctx context.Context) (bool, error) {
		s.awaitSentinel(gs[0].namespaces[0])
		now, err := observe(ctx, gs...)
		if quiet++; !reflect.DeepEqual(last, now) {
			quiet = 0
		}
		last = now
		return quiet >= 4, err
	})
	return last
}

// trial is a series of runs of the real collector on a blueprint.
type trial struct {
	*scene
	*blueprint
	copies []*builtGraph
	ends   []graphState
}

// runAgain builds another graph of the blueprint and runs the real collector on it.
func (t *trial) runAgain(before graphState) {
	t.Helper()
	g := t.build(t.scene, len(t.copies)+1)[0]
	for role, c := range g.state() {
		if before[role].String() != c.String() {
			t.Fatalf("%s is not built the same: %s, and in copy %d %s", role, before[role], g.copy, c)
		}
	}
	t.copies = append(t.copies, g)
	t.switchCollector(testcluster.On)
	t.ends = append(t.ends, t.awaitIdle(g)...)
	t.switchCollector(testcluster.Absent)
}

// continueRun starts the real collector again on all graphs, then repeats every foreground
// deletion that waits for other finalizers. A collector that starts during such a deletion may
// skip some dependents (it processes those that block, and those whose event it receives before
// the owner's). Repeating the deletion makes it process all of them, as if it had
// been running when the deletion began.
func (t *trial) continueRun() {
	t.Helper()
	t.switchCollector(testcluster.On)
	defer t.switchCollector(testcluster.Absent)
	ends := t.awaitIdle(t.copies...)
	t.ends = append(t.ends, ends...)
	foreground := metav1.DeletePropagationForeground
	for i, g := range t.copies {
		for n, p := range g.parts {
			now := ends[i][roleOf(n)]
			if p.change != inForeground || now.Gone || slices.Contains(now.Finalizers, metav1.FinalizerDeleteDependents) {
				continue
			}
			client, err := g.resource(g.objects[n])
			t.must(err)
			t.must(client.Delete(t.Context(), g.name(n), metav1.DeleteOptions{PropagationPolicy: &foreground}))
		}
	}
	t.ends = append(t.ends, t.awaitIdle(t.copies...)...)
}

// run collects final states of the real collector: three at first, and more while the program's
// final state is not among them. It returns the number of objects for which the first three
// differ.
func (t *trial) run(before, ours graphState) (differing int) {
	t.Helper()
	for range 3 {
		t.runAgain(before)
	}
	differing = t.nondeterministic()
	for n := 0; n < 5 && len(t.mismatches(ours)) > 0; n++ {
		t.continueRun()
		if len(t.mismatches(ours)) > 0 {
			t.runAgain(before)
		}
	}
	return differing
}

// keptByRace returns the roles that the program kept and that only some runs of the real collector
// deleted. One that is terminating is deleted, and waits for a dependent: the real collector may
// delete it at once if it breaks a cycle (docs/differences.md#what-it-writes). Below an owner that
// orphans its dependents it is the deletion that is a race: a collector that starts may orphan them
// before it has seen them all.
func (t *trial) keptByRace(before, ours graphState) (roles []string) {
	for _, role := range slices.Sorted(maps.Keys(ours)) {
		went := slices.ContainsFunc(t.ends, func(e graphState) bool { return e[role].Gone })
		if !ours[role].Gone && !ours[role].Terminating && went && !before.belowOrphaning(role) {
			roles = append(roles, role)
		}
	}
	return roles
}

// belowOrphaning reports whether an owner, or an owner's owner and so on, is being deleted and orphans its
// dependents.
func (e graphState) belowOrphaning(role string) bool {
	above := []string{role}
	for i := 0; i < len(above); i++ {
		for _, owner := range e[above[i]].Owners {
			if slices.Contains(e[owner.uid].Finalizers, metav1.FinalizerOrphanDependents) {
				return true
			}
			if !slices.Contains(above, owner.uid) {
				above = append(above, owner.uid)
			}
		}
	}
	return false
}

// nondeterministic returns the number of objects for which runs of the real collector differ.
func (t *trial) nondeterministic() int {
	n := 0
	for role, c := range t.ends[0] {
		if slices.ContainsFunc(t.ends[1:], func(e graphState) bool { return e[role].String() != c.String() }) {
			n++
		}
	}
	return n
}

// mismatches returns the roles whose final state no run of the real collector reached.
func (t *trial) mismatches(ours graphState) []string {
	var out []string
	for _, role := range slices.Sorted(maps.Keys(ours)) {
		if !slices.ContainsFunc(t.ends, func(e graphState) bool {
			return e[role].relevant(e).String() == ours[role].relevant(ours).String()
		}) {
			out = append(out, role)
		}
	}
	return out
}

// history describes an object whose final state differs from the real collector's.
func (t *trial) history(role string, g *builtGraph, before, ours graphState) string {
	out := &strings.Builder{}
	add := func(what, role string) {
		fmt.Fprintf(out, "%s%s %s\n  before: %s\n  ours:   %s\n", what, role, g.describe(role), before[role], ours[role])
		known := map[string]bool{}
		for _, e := range t.ends {
			if end := e[role].String(); !known[end] {
				known[end] = true
				fmt.Fprintf(out, "  real:   %s\n", end)
			}
		}
	}
	add("", role)
	n := g.partNumber(role)
	for _, c := range g.parts[n].refs {
		add("owner ", roleOf(c.uid))
	}
	for i, p := range g.parts {
		if slices.ContainsFunc(p.refs, func(c partRef) bool { return c.uid == n }) {
			add("dependent ", roleOf(i))
		}
	}
	return out.String()
}

// partNumber returns the number of the part with a role. The successor of a replaced part has the
// same number, with a dash.
func (g *builtGraph) partNumber(role string) int {
	n, err := strconv.Atoi(strings.Trim(role, "#'"))
	g.must(err)
	return n
}

func (g *builtGraph) describe(role string) string {
	n := g.partNumber(role)
	if n < 0 {
		return "(nothing)"
	}
	return fmt.Sprintf("%s %s", g.parts[n].kind, g.name(n))
}
