package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// rival is a second environment, in which the real collector does what the program does in
// the first one. The first test that needs it starts it.
var rival struct {
	once         sync.Once
	controlPlane *testcluster.ControlPlane
	environment  *environment
	err          error
}

// opposite returns a scene in the environment of the real collector.
func opposite(t *testing.T) *scene {
	t.Helper()
	newScene(t)
	rival.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if rival.controlPlane, rival.err = testcluster.Start(ctx, testcluster.Options{Collector: testcluster.Absent, OnlyIfBuilt: true}); rival.err == nil {
			rival.environment, rival.err = newEnvironment(rival.controlPlane, shared.bin)
		}
	})
	if errors.Is(rival.err, testcluster.ErrNotBuilt) {
		t.Skip("SKIPPED, NOT TESTED: ", rival.err)
	}
	if rival.err != nil {
		t.Fatal(rival.err)
	}
	return rival.environment.newScene(t)
}

// stopRival stops the second control plane.
func stopRival() error {
	if rival.controlPlane == nil {
		return nil
	}
	return rival.controlPlane.Stop()
}

// switched switches the collector of the scene's environment.
func (s *scene) switched(to string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
	defer cancel()
	if err := s.controlPlane.SetCollector(ctx, to); err != nil {
		s.Errorf("switch the collector to %s: %v", to, err)
	}
}

// settled waits until the real collector is idle: it has processed the last sentinel, and
// nothing has changed since the one before.
func (s *scene) settled(gs ...*builtGraph) []ending {
	s.Helper()
	var last []ending
	quiet := 0
	s.await("the collector to settle", func(ctx context.Context) (bool, error) {
		s.afterASentinel(gs[0].spaces[0])
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
	ends   []ending
}

// again builds another graph of the blueprint and starts the real collector on it.
func (t *trial) again(before ending) {
	t.Helper()
	g := t.build(t.scene, len(t.copies)+1)[0]
	for role, c := range g.state() {
		if before[role].String() != c.String() {
			t.Fatalf("%s is not built the same: %s, and in copy %d %s", role, before[role], g.copy, c)
		}
	}
	t.copies = append(t.copies, g)
	t.switched(testcluster.On)
	t.ends = append(t.ends, t.settled(g)...)
	t.switched(testcluster.Absent)
}

// insist lets the real collector begin once more where it has left off, and then
// asks again for every foreground deletion that waits for other finalizers. One
// that begins while such a deletion is under way need not look at all of its
// dependents (it looks at those that it happens to hear of earlier, and at those
// that block), so this is how they come up, as they would have if it had been
// there when the deletion was begun.
func (t *trial) insist() {
	t.Helper()
	t.switched(testcluster.On)
	defer t.switched(testcluster.Absent)
	ends := t.settled(t.copies...)
	t.ends = append(t.ends, ends...)
	foreground := metav1.DeletePropagationForeground
	for i, g := range t.copies {
		for n, p := range g.parts {
			now := ends[i][roleOf(n)]
			if p.fate != inForeground || now.Gone || slices.Contains(now.Finalizers, metav1.FinalizerDeleteDependents) {
				continue
			}
			at, err := g.resource(g.objects[n])
			t.must(err)
			t.must(at.Delete(t.Context(), g.name(n), metav1.DeleteOptions{PropagationPolicy: &foreground}))
		}
	}
	t.ends = append(t.ends, t.settled(t.copies...)...)
}

// comes to the ends of the real collector: three of them, and more where ours is
// not among them yet.
func (t *trial) comesTo(before, ours ending) (racy int) {
	t.Helper()
	for range 3 {
		t.again(before)
	}
	racy = t.racy()
	for n := 0; n < 5 && len(t.mismatches(ours)) > 0; n++ {
		t.insist()
		if len(t.mismatches(ours)) > 0 {
			t.again(before)
		}
	}
	return racy
}

// outlived returns the number of objects that stayed here and were deleted in some run of
// the real collector, but not in another: by a race.
func (t *trial) outlived(ours ending) (n int) {
	for role, c := range ours {
		went := slices.ContainsFunc(t.ends, func(e ending) bool { return e[role].Gone })
		if !c.Gone && went {
			n++
		}
	}
	return n
}

// racy returns the number of objects for which runs of the real collector differ.
func (t *trial) racy() int {
	n := 0
	for role, c := range t.ends[0] {
		if slices.ContainsFunc(t.ends[1:], func(e ending) bool { return e[role].String() != c.String() }) {
			n++
		}
	}
	return n
}

// mismatches returns the roles whose final state is that of no run of the real collector.
func (t *trial) mismatches(ours ending) []string {
	var out []string
	for _, role := range slices.Sorted(maps.Keys(ours)) {
		if !slices.ContainsFunc(t.ends, func(e ending) bool {
			return e[role].matters(e).String() == ours[role].matters(ours).String()
		}) {
			out = append(out, role)
		}
	}
	return out
}

// history describes an object whose final state differs from the real collector's.
func (t *trial) history(role string, g *builtGraph, before, ours ending) string {
	out := &strings.Builder{}
	tell := func(what, role string) {
		fmt.Fprintf(out, "%s%s %s\n  before: %s\n  ours:   %s\n", what, role, g.describe(role), before[role], ours[role])
		told := map[string]bool{}
		for _, e := range t.ends {
			if end := e[role].String(); !told[end] {
				told[end] = true
				fmt.Fprintf(out, "  real:   %s\n", end)
			}
		}
	}
	tell("", role)
	n := g.number(role)
	for _, c := range g.parts[n].claims {
		tell("owner ", roleOf(c.uid))
	}
	for i, p := range g.parts {
		if slices.ContainsFunc(p.claims, func(c claim) bool { return c.uid == n }) {
			tell("dependent ", roleOf(i))
		}
	}
	return out.String()
}

// number returns the number of the part with a role. The successor of a replaced part has
// the same number, with a dash.
func (g *builtGraph) number(role string) int {
	n, err := strconv.Atoi(strings.Trim(role, "#'"))
	g.must(err)
	return n
}

func (g *builtGraph) describe(role string) string {
	n := g.number(role)
	if n < 0 {
		return "(nothing)"
	}
	return fmt.Sprintf("%s %s", g.parts[n].kind, g.name(n))
}
