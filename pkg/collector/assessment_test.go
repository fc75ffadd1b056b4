package collector_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// The table of docs/gc-semantics.md#decision, without foreground deletion.
func TestAssessConsequences(t *testing.T) {
	tests := []struct{ name, verdicts, want string }{
		{"nothing but solid owners", "solid solid", "none none"},
		{"only dangling owners", "dangling dangling", "delete delete"},
		{"only a waiting owner", "waiting", "delete"},
		{"a waiting owner beside a dangling one", "waiting dangling", "delete delete"},
		{"a solid owner keeps the object from a dangling one", "solid dangling", "none unlink"},
		{"a solid owner keeps the object from a waiting one", "waiting solid", "unlink none"},
		{"a solid owner last", "dangling waiting solid", "unlink unlink none"},
		{"one that cannot be resolved", "unresolvable", "stuck"},
		{"one out of scope", "scope-error", "stuck"},
		{"one that cannot be resolved holds up dangling ones", "dangling unresolvable", "stuck stuck"},
		{"one out of scope holds up waiting ones", "scope-error waiting", "stuck stuck"},
		{"one that cannot be resolved beside a solid one", "solid unresolvable dangling", "none stuck stuck"},
		{"an unknown one", "unknown", "unknown"},
		{"an unknown one beside a dangling one", "dangling unknown", "unknown unknown"},
		{"an unknown one beside a waiting one", "unknown waiting", "unknown unknown"},
		{"an unknown one beside a solid and a dangling one", "solid dangling unknown", "none unknown unknown"},
		{"an unknown one beside a solid one", "solid unknown", "none unknown"},
		{"an unknown one beside one that cannot be resolved", "unknown unresolvable dangling", "stuck stuck stuck"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var judgements []collector.Judgement
			for v := range strings.FieldsSeq(test.verdicts) {
				judgements = append(judgements, collector.Judgement{Verdict: collector.Verdict(v)})
			}
			alive, terminating := st.Pod("ns/d"), st.Pod("ns/d", st.Terminating("x/y"))
			if diff := cmp.Diff(test.want, consequences(&alive, judgements)); diff != "" {
				t.Error(diff)
			}
			nothing := strings.TrimSpace(strings.Repeat("none ", len(judgements)))
			if diff := cmp.Diff(nothing, consequences(&terminating, judgements)); diff != "" {
				t.Errorf("a terminating object:\n%s", diff)
			}
		})
	}
}

func consequences(o *object.Object, judgements []collector.Judgement) string {
	var out []string
	outlook := assess(o, judgements)
	for i, j := range judgements {
		out = append(out, string(outlook.ConsequenceFor(o.Owners[i].UID, j.Verdict)))
	}
	return strings.Join(out, " ")
}

// assess adds a reference to a different owner for each judgement, and assesses the object.
func assess(o *object.Object, judgements []collector.Judgement) collector.Assessment {
	o.Owners = nil
	for i := range judgements {
		o.Owners = append(o.Owners, st.To(st.Pod(fmt.Sprintf("ns/owner%d", i))))
	}
	return collector.Assess(o, collector.Verdicts(judgements))
}

func TestAssess(t *testing.T) {
	pod, other := st.Pod("ns/pod"), st.Pod("ns/other")
	wrong, gone, foo := st.To(pod, st.Named("wrong")), st.To(st.Pod("ns/gone")), st.To(st.Pod("ns/foo"), st.As("v1", "Foo"))
	tests := map[string]struct {
		references []object.Reference
		culprit    int
		left       int
		decided    collector.Consequence
	}{
		"no reference":                       {nil, -1, 0, collector.ConsequenceDelete},
		"two good ones":                      {[]object.Reference{st.To(pod), st.To(other)}, -1, 2, collector.ConsequenceUnlink},
		"a good and a bad one":               {[]object.Reference{st.To(pod), gone}, -1, 1, collector.ConsequenceUnlink},
		"only a bad one":                     {[]object.Reference{gone}, -1, 0, collector.ConsequenceDelete},
		"a good one with a bad double":       {[]object.Reference{st.To(pod), wrong}, -1, 0, collector.ConsequenceUnlink},
		"one of two good ones with a double": {[]object.Reference{wrong, st.To(pod), st.To(other)}, -1, 1, collector.ConsequenceUnlink},
		"a double of itself":                 {[]object.Reference{st.To(pod), st.To(pod)}, -1, 2, collector.ConsequenceUnlink},
		"a culprit behind a bad one":         {[]object.Reference{gone, foo}, 1, 0, collector.ConsequenceDelete},
		"the first of two culprits":          {[]object.Reference{st.To(pod), foo, foo}, 1, 1, collector.ConsequenceUnlink},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := graph.New(st.New(st.Listing(pod, other, st.ConfigMap("ns/child", st.Owned(test.references...)))))
			n := g.Find("ConfigMap/ns/child")
			w := collector.Assess(g.Object(n), collector.Verdicts(collector.NewJudge(g).Object(n)))
			if w.UndecidableReference != test.culprit || w.ReferencesLeft != test.left || w.ConsequenceIfDecidable() != test.decided {
				t.Errorf("culprit %d, left %d, decided %s; want %d, %d, %s", w.UndecidableReference, w.ReferencesLeft, w.ConsequenceIfDecidable(), test.culprit, test.left, test.decided)
			}
		})
	}
}

func TestNobodyKnowsWhatBecomesOfASolidReferenceWhoseDoubleMayBeRemoved(t *testing.T) {
	pod := st.Pod("ns/pod")
	o := st.ConfigMap("ns/child", st.Owned(st.To(pod), st.To(pod, st.Named("double")), st.To(st.Pod("ns/other"))))
	const solid, dangling, unknown = collector.VerdictSolid, collector.VerdictDangling, collector.VerdictUnknown
	for _, test := range []struct {
		verdicts    []collector.Verdict
		first, last collector.Consequence
	}{
		{[]collector.Verdict{solid, unknown, solid}, collector.ConsequenceUnknown, collector.ConsequenceNone},
		{[]collector.Verdict{solid, dangling, unknown}, collector.ConsequenceUnknown, collector.ConsequenceUnknown},
		{[]collector.Verdict{solid, solid, unknown}, collector.ConsequenceNone, collector.ConsequenceUnknown},
	} {
		a := collector.Assess(&o, test.verdicts)
		first, last := a.ConsequenceFor(pod.UID, test.verdicts[0]), a.ConsequenceFor(o.Owners[2].UID, test.verdicts[2])
		if first != test.first || last != test.last {
			t.Errorf("%v: %s and %s, want %s and %s", test.verdicts, first, last, test.first, test.last)
		}
	}
}

func TestAssessIgnoresTheOrderOfReferences(t *testing.T) {
	verdicts := []collector.Verdict{
		collector.VerdictSolid, collector.VerdictDangling, collector.VerdictWaiting, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown,
	}
	rapid.Check(t, func(t *rapid.T) {
		var judgements []collector.Judgement
		for _, v := range rapid.SliceOfN(rapid.SampledFrom(verdicts), 1, 5).Draw(t, "verdicts") {
			judgements = append(judgements, collector.Judgement{Verdict: v})
		}
		o := st.Pod("ns/d")
		of := func(judgements []collector.Judgement) map[string]int {
			out := map[string]int{}
			outlook := assess(&o, judgements)
			for i, j := range judgements {
				out[fmt.Sprint(j.Verdict, " ", outlook.ConsequenceFor(o.Owners[i].UID, j.Verdict))]++
			}
			return out
		}
		shuffled := rapid.Permutation(judgements).Draw(t, "shuffled")
		if diff := cmp.Diff(of(judgements), of(shuffled)); diff != "" {
			t.Fatal(diff)
		}
	})
}
