package simulate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// See docs/gc-semantics.md#conflicting-claims.
func TestReferencesOfOneDependentNeverAffectAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		more := *s
		more.Objects = slices.Clone(s.Objects)
		st.Listing(drawIntruder(t, s))(&more)
		got := slices.DeleteFunc(collectortest.Verdicts(&more), func(line string) bool { return strings.HasPrefix(line, "intruder:") })
		if diff := cmp.Diff(collectortest.Verdicts(s), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// drawIntruder draws another object, with references to owners or UIDs of others.
func drawIntruder(t *rapid.T, s *snapshot.Snapshot) object.Object {
	kinds := []func(...st.Option) object.Object{
		func(with ...st.Option) object.Object { return st.Secret("a/intruder", with...) },
		func(with ...st.Option) object.Object { return st.Secret("c/intruder", with...) },
		func(with ...st.Option) object.Object { return st.Node("intruder", with...) },
	}
	intruder := rapid.SampledFrom(kinds).Draw(t, "kind")(st.UID("intruder"))
	for _, o := range s.Objects {
		for _, r := range append(slices.Clone(o.Owners), st.To(*o)) {
			switch rapid.IntRange(0, 4).Draw(t, "claim") {
			case 0:
				st.Owned(r)(&intruder)
			case 1:
				st.As("v1", "Secret")(&r)
				st.Owned(r)(&intruder)
			case 2:
				st.Named("intruder")(&r)
				st.Owned(r)(&intruder)
			}
		}
	}
	return intruder
}

// An owner is solid only if it was seen with the UID and the name, in the dependent's
// namespace or cluster-scoped.
func TestOnlyListedOrFoundOwnersAreSolid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := st.Draw(t)
		g := graph.New(s)
		judge := collector.NewJudge(g)
		for n := graph.Node(0); g.Object(n) != nil; n++ {
			o := g.Object(n)
			for i, j := range judge.Object(n) {
				r := o.Owners[i]
				alive := j.Verdict == collector.VerdictSolid || j.Verdict == collector.VerdictWaiting
				if alive != (j.Cause == collector.CauseNone || j.Cause == collector.CauseTerminating) {
					t.Fatalf("%s of %s is %s for the cause %q", r, o, j.Verdict, j.Cause)
				}
				if alive && (j.UIDHolder == nil || j.UIDHolder.UID != r.UID || j.UIDHolder.Name != r.Name ||
					j.UIDHolder.Namespace != "" && j.UIDHolder.Namespace != o.Namespace) {
					t.Fatalf("%s of %s is %s because of %+v", r, o, j.Verdict, j.UIDHolder)
				}
				if (j.Verdict == collector.VerdictWaiting) != (alive && j.UIDHolder.DeletingDependents()) {
					t.Fatalf("%s of %s is %s, its owner %+v", r, o, j.Verdict, j.UIDHolder)
				}
			}
		}
	})
}

// A cluster or a file may contain anything in a reference.
func TestJudgeAcceptsAnyReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"", "v1", "Pod", "pods", "List", "PodList", "/", "//", "apps/", "a/b/c", "..", "\x00", "\xff", "ns", "owner", "__internal",
		}))
		s := st.New(st.Listing(st.Pod("ns/owner", st.UID("owner")), st.Node("owner", st.UID("ns"))))
		for _, at := range []string{"ns/child", "child"} {
			child := st.Object("v1", "ConfigMap", at, st.UID(types.UID(at)))
			for range rapid.IntRange(0, 4).Draw(t, "references") {
				st.Owned(object.Reference{
					APIVersion: text.Draw(t, "apiVersion"), Kind: text.Draw(t, "kind"), Name: text.Draw(t, "name"), UID: types.UID(text.Draw(t, "uid")),
				})(&child)
			}
			st.Listing(child)(s)
		}
		nothing := func(types.UID) *object.Object { return nil }
		for _, c := range snapshot.NewView(s).UnverifiedOwners(s.Objects, nothing) {
			if !snapshot.ValidName(c.Name) {
				t.Fatalf("asks for the name %q", c.Name)
			}
			outcome := rapid.SampledFrom([]snapshot.LookupResult{snapshot.Absent, snapshot.Failed}).Draw(t, "outcome")
			s.Lookups = append(s.Lookups, snapshot.Lookup{Coordinates: c, Outcome: outcome})
		}
		collectortest.Verdicts(s)
		g := graph.New(s)
		g.Cycles(func(e graph.Edge) bool { return !collector.NewJudge(g).Reference(e).Broken() })
	})
}
