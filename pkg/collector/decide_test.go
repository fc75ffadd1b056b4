package collector_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// input describes a DecisionInput: the verdicts on the object's references, with an
// exclamation mark if the reference blocks, and what depends on the object.
type input struct {
	verdicts                       string
	finalizers                     string
	terminating                    bool
	dependents, blockers, deleting int
	incomplete, deletedBefore      bool
}

func (s input) decisionInput() collector.DecisionInput {
	o := st.ConfigMap("ns/d", st.WithFinalizers(strings.Fields(s.finalizers)...))
	if s.terminating {
		st.Terminating()(&o)
	}
	out := collector.DecisionInput{
		Actor:  collector.ActorClient,
		Object: &o, Dependents: s.dependents, Blockers: s.blockers, Deleting: s.deleting, Complete: func() bool { return !s.incomplete }, DeletedBeforeOwner: s.deletedBefore,
	}
	for i, word := range strings.Fields(s.verdicts) {
		verdict, blocks := strings.CutSuffix(word, "!")
		r := st.To(st.Pod(fmt.Sprintf("ns/o%d", i)))
		if blocks {
			st.Blocking(&r)
		}
		o.Owners = append(o.Owners, r)
		out.Verdicts = append(out.Verdicts, collector.Verdict(verdict))
	}
	return out
}

// The table of docs/gc-semantics.md#decision, then the sections that it links to, then what
// docs/differences.md says about types that could not be listed.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name string
		input
		want string
	}{
		{"terminating: what is terminating by nobody's finalizer is left to go", input{terminating: true, verdicts: "dangling"}, "going"},
		{"terminating: what is terminating and held by somebody is left alone, whatever its owners", input{terminating: true, finalizers: "x/y", verdicts: "dangling waiting"}, "going"},
		{"terminating: not even a reference is dropped from it", input{terminating: true, finalizers: "x/y", verdicts: "solid dangling"}, "going"},
		{"terminating: nor does a reference that cannot be judged matter to it", input{terminating: true, finalizers: "x/y", verdicts: "unresolvable"}, "going"},
		{"terminating: what depends on it does not matter either", input{terminating: true, finalizers: "x/y", dependents: 2, blockers: 1}, "going"},

		{"in foreground deletion: one in foreground deletion is dealt with as such, whatever its owners", input{terminating: true, finalizers: collectortest.Foreground, verdicts: "unresolvable dangling"}, "remove-finalizer foregroundDeletion"},
		{"in foreground deletion: the finalizer alone is no deletion", input{finalizers: collectortest.Foreground, verdicts: "solid", blockers: 1, dependents: 1}, "kept"},

		{"no references: without a reference nothing is done", input{}, "no owners"},
		{"no references: finalizers make no difference", input{finalizers: collectortest.Foreground + " x/y"}, "no owners"},
		{"no references: nor do dependents", input{dependents: 3, blockers: 3, deleting: 3}, "no owners"},

		{"undecidable: a kind that leads nowhere holds up everything", input{verdicts: "unresolvable"}, "undecidable: o0"},
		{"undecidable: so does a namespaced owner of a cluster-scoped object", input{verdicts: "scope-error"}, "undecidable: o0"},
		{"undecidable: so does an owner of whom nothing is known", input{verdicts: "unknown"}, "undecidable: o0"},
		{"undecidable: no reference beside it is dropped, though another is solid", input{verdicts: "solid dangling unresolvable"}, "undecidable: o2"},
		{"undecidable: nothing is deleted because of one beside it", input{verdicts: "dangling waiting unknown"}, "undecidable: o2"},
		{"undecidable: the first of several is named", input{verdicts: "solid unknown scope-error unresolvable"}, "undecidable: o1"},
		{"undecidable: the first is named also behind a dangling one", input{verdicts: "dangling scope-error unknown"}, "undecidable: o1"},

		{"solid owners only: a solid owner keeps it", input{verdicts: "solid"}, "kept"},
		{"solid owners only: so do several", input{verdicts: "solid solid!"}, "kept"},

		{"solid owners and others: beside a solid owner a dangling one is dropped", input{verdicts: "solid dangling"}, "unlink o1"},
		{"solid owners and others: so is a waiting one", input{verdicts: "waiting solid"}, "unlink o0"},
		{"solid owners and others: so are all of them, and nothing else", input{verdicts: "dangling solid waiting! solid dangling"}, "unlink o0,o2,o4"},
		{"solid owners and others: it does not matter what depends on it", input{verdicts: "waiting solid", dependents: 2, blockers: 2, deleting: 1}, "unlink o0"},

		{"waiting owner and dependents: one that waits with its owner takes its dependents along", input{verdicts: "waiting", dependents: 1}, "delete Foreground"},
		{"waiting owner and dependents: a dangling owner beside the waiting one changes nothing", input{verdicts: "dangling waiting", dependents: 1}, "delete Foreground"},
		{"waiting owner and dependents: the orphan finalizer is ignored", input{verdicts: "waiting", dependents: 1, finalizers: collectortest.Orphan}, "delete Foreground"},

		{"no solid owner: without a solid owner it goes in the background", input{verdicts: "dangling"}, "delete Background"},
		{"no solid owner: dependents make no difference when nothing waits", input{verdicts: "dangling", dependents: 4, blockers: 4, deleting: 4}, "delete Background"},
		{"no solid owner: with a waiting owner and no dependents too", input{verdicts: "waiting"}, "delete Background"},
		{"no solid owner: an orphan finalizer of its own decides the policy", input{verdicts: "dangling", finalizers: "x/y " + collectortest.Orphan}, "delete Orphan"},
		{"no solid owner: so it is with a waiting owner and no dependents", input{verdicts: "waiting", finalizers: collectortest.Orphan}, "delete Orphan"},
		{"no solid owner: a foreground finalizer of its own decides the policy", input{verdicts: "dangling", finalizers: collectortest.Foreground}, "delete Foreground"},
		{"no solid owner: of both, the orphan finalizer", input{verdicts: "dangling", finalizers: collectortest.Foreground + " " + collectortest.Orphan}, "delete Orphan"},
		{"no solid owner: finalizers of others ask for nothing", input{verdicts: "dangling", finalizers: "x/y"}, "delete Background"},

		{"cycle: a cycle is broken first", input{verdicts: "waiting!", dependents: 1, deleting: 1}, "unblock o0"},
		{"cycle: every blocking reference is unblocked, waiting or not", input{verdicts: "dangling! waiting waiting!", dependents: 1, deleting: 1}, "unblock o0,o2"},
		{"cycle: with nothing that blocks there is nothing to break", input{verdicts: "waiting", dependents: 1, deleting: 1}, "delete Foreground"},
		{"cycle: dependents that are not being deleted make no cycle", input{verdicts: "waiting!", dependents: 2}, "delete Foreground"},
		{"cycle: a solid owner comes first", input{verdicts: "solid waiting!", dependents: 1, deleting: 1}, "unlink o1"},
		{"cycle: so does a reference that cannot be judged", input{verdicts: "waiting! unknown", dependents: 1, deleting: 1}, "undecidable: o1"},
		{"cycle: a waiting owner is needed to break one", input{verdicts: "dangling!", dependents: 1, deleting: 1}, "delete Background"},

		{"in foreground deletion: what blocks must go first", input{terminating: true, finalizers: collectortest.Foreground, dependents: 3, blockers: 1}, "blocked"},
		{"in foreground deletion: what does not block is not waited for", input{terminating: true, finalizers: collectortest.Foreground, dependents: 3}, "remove-finalizer foregroundDeletion"},
		{"in foreground deletion: finalizers of others do not keep the collector's", input{terminating: true, finalizers: "x/y " + collectortest.Foreground + " z/z"}, "remove-finalizer foregroundDeletion"},

		{"orphaning: dependents are orphaned first", input{terminating: true, finalizers: collectortest.Orphan, dependents: 2}, "orphan"},
		{"orphaning: when none is left the finalizer goes", input{terminating: true, finalizers: collectortest.Orphan}, "remove-finalizer orphan"},
		{"orphaning: of both finalizers the orphan one comes first", input{terminating: true, finalizers: collectortest.Foreground + " " + collectortest.Orphan, dependents: 1, blockers: 1}, "orphan"},
		{"orphaning: and is removed first", input{terminating: true, finalizers: collectortest.Foreground + " " + collectortest.Orphan}, "remove-finalizer orphan"},
		{"orphaning: the finalizer alone is no deletion", input{finalizers: collectortest.Orphan, dependents: 1}, "no owners"},

		{"incomplete scan: no foreground finalizer is removed where not everything was seen", input{terminating: true, finalizers: collectortest.Foreground, incomplete: true}, "not all listed"},
		{"incomplete scan: nothing is orphaned there", input{terminating: true, finalizers: collectortest.Orphan, dependents: 1, incomplete: true}, "not all listed"},
		{"incomplete scan: no orphan finalizer is removed there", input{terminating: true, finalizers: collectortest.Orphan, incomplete: true}, "not all listed"},
		{"incomplete scan: what owners prove holds all the same: delete", input{verdicts: "dangling", incomplete: true}, "delete Background"},
		{"incomplete scan: what owners prove holds all the same: unlink", input{verdicts: "solid dangling", incomplete: true}, "unlink o1"},
		{"incomplete scan: nothing is deleted in the foreground for an owner that is not released", input{verdicts: "waiting", dependents: 1, finalizers: collectortest.Orphan, incomplete: true}, "delete Orphan"},
		{"incomplete scan: nor what goes at once, though its owner goes after it", input{verdicts: "waiting!", dependents: 1, incomplete: true, deletedBefore: true}, "delete Background"},
		{"incomplete scan: but what stays for a while, and holds up its owner", input{verdicts: "dangling waiting!", dependents: 1, finalizers: "x/y", incomplete: true, deletedBefore: true}, "delete Foreground"},
		{"incomplete scan: the orphan finalizer is ignored then too", input{verdicts: "waiting!", dependents: 1, finalizers: collectortest.Orphan, incomplete: true, deletedBefore: true}, "delete Foreground"},
		{"incomplete scan: what only waits for foreign finalizers needs no complete scan", input{terminating: true, finalizers: "x/y", incomplete: true}, "going"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := test.decisionInput()
			if got := collectortest.DescribeDecision(s.Object, collector.Decide(s)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	t.Run("gone: what is gone is gone", func(t *testing.T) {
		if d := collector.Decide(collector.DecisionInput{}); d.Action != collector.ActionNone || d.NoAction != collector.ObjectGone {
			t.Errorf("got %+v", d)
		}
	})
}

func TestDecisionHasTheFieldsOfItsAction(t *testing.T) {
	verdicts := []string{"", "solid", "dangling", "waiting!", "unknown", "solid dangling", "waiting dangling!"}
	for _, v := range verdicts {
		for _, finalizers := range []string{"", "x/y", object.ForegroundFinalizer, object.OrphanFinalizer} {
			for n := range 16 {
				s := input{
					verdicts: v, finalizers: finalizers, terminating: n&1 > 0, dependents: n >> 1 & 1, blockers: n >> 2 & n >> 1 & 1,
					deleting: n >> 1 & 1, incomplete: n>>3 > 0,
				}.decisionInput()
				d := collector.Decide(s)
				switch {
				case (d.Action == collector.ActionNone) != (d.NoAction != collector.ActionTaken),
					(d.Action == collector.ActionDelete) != (d.Policy != metav1.DeletionPropagation("")),
					(d.Action == collector.ActionUnlink) != (len(d.Change.Drop) > 0),
					(d.Action == collector.ActionUnblock) != (len(d.Change.Unblock) > 0),
					(d.Action == collector.ActionRemoveFinalizer) != (d.Change.RemoveFinalizer != ""),
					d.NoAction != collector.ReferenceUnknown && d.UndecidableReference != 0,
					d.NoAction == collector.ReferenceUnknown && !slices.Contains([]collector.Verdict{collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown}, s.Verdicts[d.UndecidableReference]):
					t.Errorf("%q with %q, %04b: %+v", v, finalizers, n, d)
				}
			}
		}
	}
}

// docs/gc-semantics.md#metadata-validation
func TestUpdateRejected(t *testing.T) {
	controls, other := st.To(st.Pod("ns/a"), st.Controlling), st.To(st.Pod("ns/b"), st.Controlling)
	for name, c := range map[string]struct {
		change st.Option
		want   bool
	}{
		"two equal controllers, which are merged before": {st.Owned(controls, controls), false},
		"two different controllers":                      {st.Owned(controls, controls, other), true},
		"a reference without a UID":                      {st.Owned(st.To(st.Pod("ns/a"), st.WithUID(""))), true},
		"an Event as its owner":                          {st.OwnedBy(st.Object("v1", "Event", "ns/e")), true},
		"an Event of another group as its owner":         {st.OwnedBy(st.Object("events.k8s.io/v1", "Event", "ns/e")), false},
		"one finalizer of the collector":                 {st.WithFinalizers("x/y", object.OrphanFinalizer), false},
		"both finalizers of the collector":               {st.WithFinalizers(object.OrphanFinalizer, "x/y", object.ForegroundFinalizer), true},
		"both of them, the other way round":              {st.WithFinalizers(object.ForegroundFinalizer, object.OrphanFinalizer, "x/y"), true},
	} {
		o := st.ConfigMap("ns/child", c.change)
		if got := collector.UpdateRejected(&o); got != c.want {
			t.Errorf("%s: rejected %t, want %t", name, got, c.want)
		}
	}
}
