package simulate_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// drawDeletions draws deletions of up to three objects, with one policy.
func drawDeletions(t *rapid.T, s *snapshot.Snapshot) []deletion {
	if len(s.Objects) == 0 {
		return nil
	}
	policy := rapid.SampledFrom([]metav1.DeletionPropagation{inBackground, inForeground, orphaning}).Draw(t, "policy")
	var out []deletion
	for _, o := range rapid.SliceOfN(rapid.SampledFrom(s.Objects), 1, 3).Draw(t, "targets") {
		out = append(out, deletion{o.UID, policy})
	}
	return out
}

// drawGrace draws the grace period of a DELETE, or none.
func drawGrace(t *rapid.T) *int64 {
	return rapid.SampledFrom([]*int64{nil, new(int64(0)), new(int64(1)), new(int64(60))}).Draw(t, "grace")
}

func TestRequestedDeletionsComeFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		c := ask(s, rapid.SampledFrom([]collector.Actor{collector.ActorClient, collector.ActorControllerManager}).Draw(t, "actor"), drawDeletions(t, s))
		asked := true
		for i, m := range c.Transitions {
			if m.Requested && (!asked || m.CausedBy >= 0 || m.Pass != 1) {
				t.Errorf("move %d was asked for, in pass %d, after %d", i, m.Pass, m.CausedBy)
			}
			asked = asked && m.Requested
			if !m.Requested && !slices.Contains(c.Requested, m.Node) && m.Pass == 1 && len(c.Transitions) > 0 && c.Transitions[0].Requested {
				t.Errorf("move %d comes with what was asked for", i)
			}
		}
	})
}

// Everything that changes is connected with a target by references, is in its contents, or in those of
// a namespace or definition whose deletion was under way and continues with the target.
func TestRequestedDeletionsChangeOnlyConnectedObjects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		c := askIn(drawGrace(t), s, collector.ActorControllerManager, drawDeletions(t, s))
		g := c.Model.Graph()
		reached := append([]graph.Node{}, c.Requested...)
		for n := range c.ContentsDeleted {
			reached = append(reached, n)
		}
		for _, n := range c.Requested {
			for m := range g.Listed() {
				if shareContainer(g.Object(n), g.Object(graph.Node(m))) {
					reached = append(reached, graph.Node(m))
				}
			}
		}
		below := st.Component(g, reached...)
		for n := range g.Listed() {
			if c.Model.Changed(graph.Node(n)) && !below.Has(graph.Node(n)) {
				t.Errorf("%s", g.Object(graph.Node(n)))
			}
		}
	})
}

// shareContainer reports whether two objects are in one namespace or of one definition, or one is the other's.
func shareContainer(a, b *object.Object) bool {
	names := func(o *object.Object) []string {
		if o.IsCRD() {
			return []string{o.Name}
		}
		kind := o.GroupVersionKind().GroupKind()
		return []string{o.InNamespace(), strings.ToLower(kind.Kind) + "s." + kind.Group}
	}
	return slices.ContainsFunc(names(a), func(name string) bool { return name != "" && slices.Contains(names(b), name) })
}

func TestNoDecisionIsLeftAfterRequestedDeletions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		c := askIn(drawGrace(t), s, collector.ActorControllerManager, drawDeletions(t, s))
		for i := range c.Transitions {
			n := c.Transitions[i].Node
			o := c.Model.Object(n)
			if o == nil {
				continue
			}
			before := c.Model.Graph().Object(n).Finalizers
			losesTrack := slices.Contains(before, object.OrphanFinalizer) && slices.Contains(before, object.ForegroundFinalizer)
			if d := c.Model.Decide(n); d.Action != collector.ActionNone && !losesTrack {
				t.Errorf("%s could still be acted on: %s", o, d.Action)
			}
		}
	})
}

func TestSimulateReleaseLeavesNoForeignFinalizers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		c := askIn(drawGrace(t), s, collector.ActorControllerManager, drawDeletions(t, s))
		moved := map[graph.Node]bool{}
		for i := range c.Transitions {
			if t := &c.Transitions[i]; !t.StateBefore.Terminating() || t.Action != collector.ActionUnlink { // others hold what is orphaned
				moved[t.Node] = true
			}
		}
		a := c.SimulateRelease()
		for _, n := range a.DeletionsBegun {
			moved[n] = true
		}
		for n := range moved {
			if o := a.Result.Model.Object(n); o != nil && o.Terminating() && len(o.ForeignFinalizers()) > 0 && !o.IsCRD() && !collector.UpdateRejected(&object.Object{Owners: o.Owners}) {
				t.Errorf("%s is still held by %q", o, o.ForeignFinalizers())
			}
		}
	})
}

// The API server refuses every change of an object that keeps a reference without a name. Here the owner that it means orphans the
// object, but only after the first removals.
func TestSimulateReleaseComesBackToAnObjectThatCouldNotBeChanged(t *testing.T) {
	holder := st.ConfigMap("ns/holder", st.WithFinalizers("example.com/hold"))
	owner := st.Secret("ns/owner", st.OwnedBy(holder), st.WithFinalizers(object.OrphanFinalizer))
	nameless := st.To(owner)
	nameless.Name = ""
	held := st.ConfigMap("ns/held", st.Owned(nameless), st.WithFinalizers("example.com/hold"))
	g := graph.New(st.New(st.Listing(holder, owner, held)))
	bounds := simulate.Bounds{Roots: simulate.NoRoots, Deletes: []simulate.DeleteRequest{
		{Node: g.Find(holder.UID), Policy: metav1.DeletePropagationBackground}, {Node: g.Find(held.UID), Policy: metav1.DeletePropagationBackground},
	}}
	release := simulate.Run(collector.NewJudge(g), simulate.Cluster, bounds).SimulateRelease()
	if left := release.Result.Model.Object(g.Find(held.UID)); left != nil {
		t.Errorf("it is still held by %q, with the owners %v", left.Finalizers, left.Owners)
	}
}

// An object without causes is one that the collector would delete even if everything stayed
// held, unless that is nondeterministic. An object without a remaining owner has no causes,
// unless its namespace goes first.
func TestReleaseCauses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		c := askIn(drawGrace(t), s, collector.ActorControllerManager, drawDeletions(t, s))
		g, lost := c.Model.Graph(), map[graph.Node]bool{}
		for n := range g.Listed() {
			node := graph.Node(n)
			lost[node] = c.Model.Decide(node).Action == collector.ActionDelete && !slices.Contains(c.Model.Verdicts(node), collector.VerdictWaiting)
		}
		end := graph.New(snapshotOf(c.Model))
		anyway := simulate.Run(collector.NewJudge(end), simulate.Cluster, simulate.Bounds{})
		a := c.SimulateRelease()
		for _, n := range a.DeletionsBegun {
			later := end.Find(g.UID(n))
			o, after := anyway.Model.Object(later), a.Causes[n]
			if len(after) == 0 && o != nil && !o.Terminating() && !c.Nondeterministic(n) && !anyway.Nondeterministic(later) {
				t.Errorf("%s goes only afterwards, and after nothing", g.Object(n))
			}
			_, pending := c.ContentsPending[n]
			contained := slices.ContainsFunc(c.Requested, func(target graph.Node) bool { return shareContainer(g.Object(target), g.Object(n)) })
			if len(after) > 0 && lost[n] && !pending && !contained {
				t.Errorf("%s goes anyway, and after %v", g.Object(n), after)
			}
		}
	})
}

func TestReleaseIsNoCauseOfADeletionThatOnlyCompletesAfterIt(t *testing.T) {
	far := st.ConfigMap("far/x", st.WithFinalizers("x/y"))
	owner := st.ConfigMap("ns/owner", st.OwnedBy(far), st.WithFinalizers(object.ForegroundFinalizer)) // far is in another namespace
	dependent := st.ConfigMap("ns/dependent", st.Owned(st.To(owner, st.Blocking)), st.WithFinalizers("x/y"))
	c := ask(st.New(st.Listing(far, owner, dependent)), collector.ActorControllerManager, []deletion{{far.UID, inBackground}, {dependent.UID, inBackground}})
	release := c.SimulateRelease()
	n := c.Model.Graph().Find(owner.UID)
	if !slices.Contains(release.DeletionsBegun, n) || len(release.Causes[n]) > 0 {
		t.Errorf("%v go only afterwards, %s after %v; it goes anyway", release.DeletionsBegun, owner, release.Causes[n])
	}
}

func TestSimulateReleaseLeavesTheResultAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		deletions, grace := drawDeletions(t, s), drawGrace(t)
		c := askIn(grace, s, collector.ActorControllerManager, deletions)
		releases := make([]*simulate.Release, 2)
		var group sync.WaitGroup
		for i := range releases {
			group.Go(func() { releases[i] = c.SimulateRelease() })
		}
		group.Wait()
		fresh := askIn(grace, s, collector.ActorControllerManager, deletions)
		if diff := cmp.Diff([2]any{describe(fresh), left(fresh)}, [2]any{describe(c), left(c)}); diff != "" {
			t.Errorf("after SimulateRelease (-before +after):\n%s", diff)
		}
		for n := range c.Model.Graph().Listed() {
			if node := graph.Node(n); !reflect.DeepEqual(c.Model.Decide(node), fresh.Model.Decide(node)) {
				t.Errorf("%s: decides %+v, then %+v", c.Model.Graph().Object(node), fresh.Model.Decide(node), c.Model.Decide(node))
			}
		}
		release := fresh.SimulateRelease()
		for _, r := range releases {
			if diff := cmp.Diff([4]any{release.DeletionsBegun, release.Causes, describe(&release.Result), left(&release.Result)}, [4]any{r.DeletionsBegun, r.Causes, describe(&r.Result), left(&r.Result)}); diff != "" {
				t.Errorf("the release differs (-alone +concurrent):\n%s", diff)
			}
		}
	})
}

func TestOrderOfRequestedDeletionsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawCoherent(t)
		asked := drawDeletions(t, s)
		back := slices.Clone(asked)
		slices.Reverse(back)
		one, two := ask(s, collector.ActorControllerManager, asked), ask(s, collector.ActorControllerManager, back)
		if fmt.Sprint(left(one)) != fmt.Sprint(left(two)) {
			t.Errorf("%q, and the other way round %q", left(one), left(two))
		}
	})
}

func TestOrderOfANamespaceAndADefinitionDoesNotMatter(t *testing.T) {
	namespace, definition := st.Namespace("b"), st.Object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com")
	instance := st.Object("example.com/v1", "Widget", "b/instance", st.WithFinalizers("x/y", object.ForegroundFinalizer))
	s := st.New(st.Listing(namespace, definition, instance, st.ConfigMap("a/dependent", st.OwnedBy(instance))))
	for _, asked := range [][]deletion{
		delete(inBackground, namespace, definition), delete(inBackground, definition, namespace),
	} {
		want := []string{"b terminating", "dependent gone", "instance terminating x/y", "widgets.example.com terminating " + simulate.DefinitionFinalizer}
		compare(t, string(asked[0].uid)+" first", want, left(ask(s, collector.ActorControllerManager, asked)))
	}
}

func TestRequestedDeletionCostIsLinear(t *testing.T) {
	const n = 500
	big := map[string]func(int) *snapshot.Snapshot{
		"claims that as many Pods use": func(n int) *snapshot.Snapshot {
			s := &snapshot.Snapshot{Types: nil}
			st.Listing(nth(0))(s)
			for i := range n / 2 {
				st.Listing(
					st.Object("v1", "PersistentVolumeClaim", fmt.Sprintf("ns/c%d", i), st.Owned(to(nth(0), true)), st.WithFinalizers(simulate.ClaimProtection)),
					st.Pod(fmt.Sprintf("ns/p%d", i), st.Owned(to(nth(0), true)), st.WithClaims("c0", fmt.Sprintf("c%d", i))))(s)
			}
			return whole(s)
		},
		"Pods of one Job": func(n int) *snapshot.Snapshot {
			job := st.Object("batch/v1", "Job", "ns/job")
			s := &snapshot.Snapshot{}
			for i := range n {
				st.Listing(st.Pod(fmt.Sprintf("ns/p%d", i), st.Owned(st.To(job, st.Controlling, st.Blocking)), st.WithFinalizers("batch.kubernetes.io/job-tracking")))(s)
			}
			st.Listing(job)(s)
			return whole(s)
		},
		"owners that are held, each owned by the one before": func(n int) *snapshot.Snapshot {
			s := chainOf()(n)
			for i := range s.Objects {
				s.Objects[i].Finalizers = []string{"x/y"}
			}
			return s
		},
	}
	for _, name := range []string{"a star, its hub owning all", "a chain deleted in the foreground", "a namespace full of held objects, beside a chain"} {
		big[name] = shapes[name]
	}
	for name, shape := range big {
		for _, policy := range []metav1.DeletionPropagation{inBackground, inForeground, orphaning} {
			cost := func(n int) float64 {
				s := shape(n)
				target := s.Objects[slices.IndexFunc(s.Objects, func(o *object.Object) bool { return len(o.Owners) == 0 })].UID
				return testing.AllocsPerRun(1, func() { ask(s, collector.ActorControllerManager, []deletion{{target, policy}}).SimulateRelease() })
			}
			if once, twice := cost(n), cost(2*n); twice > 2.3*once {
				t.Errorf("%s, %s: %.0f allocations for %d objects, %.0f for twice as many", name, policy, once, n, twice)
			}
		}
	}
}
