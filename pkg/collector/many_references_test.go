package collector_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// A reference past the first snapshot.MaxLookedUp is solid if a list or a lookup shows its owner, and else
// unknown, so that one object leads to few steps. Wherever the reference
// stands, what keeps the object still keeps it.
func TestNothingProvesAbsencePastTheFirstReferences(t *testing.T) {
	owner, waiting, other := st.ConfigMap("ns/owner"), st.ConfigMap("ns/waiting", st.Foreground()), st.ConfigMap("ns/owner", st.UID("other"))
	served := st.Deployment("ns/web")
	for name, test := range map[string]struct {
		last    object.Reference
		parts   []st.Part
		verdict collector.Verdict
		cause   collector.Cause
		before  collector.Verdict // at the last place that is looked up
		action  collector.Action
	}{
		"no list has the owner":               {st.To(owner), nil, collector.VerdictUnknown, collector.CauseUnverified, collector.VerdictDangling, collector.ActionNone},
		"another object has the owner's name": {st.To(owner), []st.Part{st.Listing(other)}, collector.VerdictUnknown, collector.CauseUnverified, collector.VerdictDangling, collector.ActionNone},
		"a lookup found none":                 {st.To(owner), []st.Part{st.Absent("v1", "ConfigMap", "ns/owner")}, collector.VerdictUnknown, collector.CauseUnverified, collector.VerdictDangling, collector.ActionNone},
		"a lookup found the owner":            {st.To(owner), []st.Part{st.Found(owner)}, collector.VerdictSolid, collector.CauseNone, collector.VerdictSolid, collector.ActionUnlink},
		"a list has the owner":                {st.To(owner), []st.Part{st.Listing(owner)}, collector.VerdictSolid, collector.CauseNone, collector.VerdictSolid, collector.ActionUnlink},
		"a list has the owner in another version": {
			st.To(served, st.As("apps/v1beta1", "Deployment")),
			[]st.Part{st.Listing(served), st.Serving(append(st.Types(), snapshot.Type{Group: "apps", Version: "v1beta1", Resource: "deployments", Kind: "Deployment", Namespaced: true, Verbs: []string{"get", "list", "watch", "delete"}})...)},
			collector.VerdictSolid, collector.CauseNone, collector.VerdictSolid, collector.ActionUnlink,
		},
		"the owner waits for its dependents": {st.To(waiting, st.Blocking), []st.Part{st.Listing(waiting)}, collector.VerdictWaiting, collector.CauseTerminating, collector.VerdictWaiting, collector.ActionDelete},
		"a list has the owner's UID elsewhere": {
			st.To(owner, st.Named("elsewhere")), []st.Part{st.Listing(owner)}, collector.VerdictUnknown, collector.CauseUnverified, collector.VerdictDangling, collector.ActionNone,
		},
		"the owner's kind is not served": {st.To(owner, st.As("v1", "Foo")), nil, collector.VerdictUnresolvable, collector.CauseUnknownKind, collector.VerdictUnresolvable, collector.ActionNone},
	} {
		t.Run(name, func(t *testing.T) {
			for _, first := range []int{snapshot.MaxLookedUp - 1, snapshot.MaxLookedUp} {
				parts := test.parts
				var owners []object.Reference
				for i := range first {
					gone := st.ConfigMap(fmt.Sprintf("ns/gone-%d", i))
					owners, parts = append(owners, st.To(gone)), append(parts, st.Absent("v1", "ConfigMap", "ns/"+gone.Name))
				}
				dependent := st.Secret("ns/dependent", st.Owned(append(owners, test.last)...))
				g := graph.New(st.New(append(parts, st.Listing(dependent))...))
				n := g.Find(dependent.UID)
				judgements := collector.NewJudge(g).Object(n)
				got, want := judgements[first], test.verdict
				if first < snapshot.MaxLookedUp {
					want = test.before
				} else if got.Cause != test.cause {
					t.Errorf("reference %d has cause %v, want %v", first, got.Cause, test.cause)
				}
				if got.Verdict != want {
					t.Errorf("reference %d is %s, want %s", first, got.Verdict, want)
				}
				if first < snapshot.MaxLookedUp {
					continue
				}
				d := collector.Decide(collector.DecisionInput{Object: g.Object(n), Verdicts: collector.Verdicts(judgements)})
				if d.Action != test.action {
					t.Errorf("action %q, want %q", d.Action, test.action)
				}
				if holder := g.Find(test.last.UID); len(g.Dependents(holder)) != 1 {
					t.Errorf("the owner has dependents %v, want one", g.Dependents(holder))
				}
			}
		})
	}
}
