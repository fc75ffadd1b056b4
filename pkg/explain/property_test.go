package explain_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// eachObject explains every object of random clusters. left is the object after the
// simulation, or nil if it is gone or will be once the Pods in its namespace are.
func eachObject(t *testing.T, check func(t *rapid.T, g *graph.Graph, n graph.Node, a *explain.Answer, left *object.Object)) {
	for name, draw := range map[string]func(*rapid.T) *snapshot.Snapshot{"any": st.Draw, "busy": st.DrawBusy} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				g := graph.New(draw(t))
				explainer := explain.NewExplainer(collector.NewJudge(g))
				end := simulate.Run(collector.NewJudge(g), simulate.Cluster, simulate.Bounds{})
				for n := range g.Listed() {
					left := end.Model.Object(graph.Node(n))
					if _, pending := end.ContentsPending[graph.Node(n)]; pending {
						left = nil
					}
					check(t, g, graph.Node(n), explainer.Object(graph.Node(n), explain.EventHistory{}), left)
				}
			})
		})
	}
}

func TestConsequenceMatchesSimulation(t *testing.T) {
	eachObject(t, func(t *rapid.T, g *graph.Graph, n graph.Node, a *explain.Answer, left *object.Object) {
		before := g.Object(n)
		if slices.ContainsFunc(collector.NewJudge(g).Object(n), collector.Judgement.NamesListKind) {
			return // this tool leaves the object alone; the answer is about the garbage collector
		}
		if a.Nondeterministic != nil || strings.Contains(a.Headline, "will be deleted with ") {
			return // the simulation shows one order of events, or the object is deleted whatever its owners are
		}
		gone := left == nil || left.Terminating() && !before.Terminating()
		lost := left != nil && len(left.Owners) < len(before.Owners)
		switch a.Consequence {
		case collector.ConsequenceDelete:
			if !gone {
				t.Fatalf("%s is still there: %s", before, a.Headline)
			}
		case collector.ConsequenceUnlink:
			if gone || !lost {
				t.Fatalf("%s is left as %+v: %s", before, left, a.Headline)
			}
		case collector.ConsequenceStuck:
			if gone || lost && controllers(before) < 2 && !before.Terminating() {
				t.Fatalf("%s is left as %+v: %s", before, left, a.Headline)
			}
		case collector.ConsequenceUnknown:
			if gone || lost && !before.Terminating() {
				t.Fatalf("%s is left as %+v: %s", before, left, a.Headline)
			}
		case collector.ConsequenceNone:
			if before.HasCollectorFinalizer() && left == nil || !before.Terminating() && (gone || lost) {
				t.Fatalf("%s is left as %+v: %s", before, left, a.Headline)
			}
		}
	})
}

// What stuck and audit say of a deletion, why says too.
func TestTheExplanationOfADeletionNamesWhatHoldsIt(t *testing.T) {
	eachObject(t, func(t *rapid.T, g *graph.Graph, n graph.Node, a *explain.Answer, left *object.Object) {
		if !g.Object(n).Terminating() || strings.Contains(a.Headline, "will be deleted with ") {
			return
		}
		j := collector.NewJudge(g)
		h := terminating.New(simulate.NewModel(j, simulate.Cluster), func() *simulate.Model { return simulate.Run(j, simulate.Cluster, simulate.Bounds{}).Model }).Of(n)
		said := []string{a.Headline}
		for _, w := range a.WaitsFor {
			said = append(said, w.Object.String(), w.Sentence)
		}
		text := strings.Join(append(said, a.Next...), " ")
		if h.RootCause != nil && !strings.Contains(text, h.RootCause.Name) {
			t.Fatalf("%s waits for %s: %s", h.Object, h.RootCause, text)
		}
		for _, f := range h.OwnFinalizers {
			if !strings.Contains(text, f) {
				t.Fatalf("%s is held by %s: %s", h.Object, f, text)
			}
		}
		if stuck := a.Consequence == collector.ConsequenceStuck; stuck != (h.Consequence == collector.ConsequenceStuck) {
			t.Fatalf("%s is %q: %s", h.Object, h.Consequence, text)
		}
	})
}

func controllers(o *object.Object) (n int) {
	for _, r := range o.Owners {
		if r.Controls() {
			n++
		}
	}
	return n
}

func TestEveryReferenceHasVerdictAndEvidence(t *testing.T) {
	eachObject(t, func(t *rapid.T, g *graph.Graph, n graph.Node, a *explain.Answer, _ *object.Object) {
		judged := collector.NewJudge(g).Object(n)
		if len(a.References) != len(judged) {
			t.Fatalf("%d references became %d", len(judged), len(a.References))
		}
		for i, r := range a.References {
			if r.Verdict != judged[i].Verdict || len(r.Evidence) == 0 {
				t.Fatalf("%s has %+v for the verdict %s", a.Object, r, judged[i].Verdict)
			}
		}
	})
}

func TestAnswersAreWholeSentences(t *testing.T) {
	eachObject(t, func(t *rapid.T, _ *graph.Graph, _ graph.Node, a *explain.Answer, _ *object.Object) {
		for _, s := range slices.Concat([]string{a.Headline}, a.Next, a.Caveats) {
			if first := []rune(s); !strings.HasSuffix(s, ".") || !unicode.IsUpper(first[0]) && !unicode.IsDigit(first[0]) {
				t.Fatalf("not a sentence: %q", s)
			}
		}
		texts := slices.Concat([]string{a.Headline}, a.Next, a.Caveats)
		for _, r := range a.References {
			texts = append(texts, r.Evidence...)
		}
		for _, l := range a.WaitsFor {
			texts = append(texts, l.Sentence)
		}
		for _, r := range a.Suggestions {
			texts = append(texts, r.Sentence)
		}
		for _, s := range texts {
			for _, slip := range []string{"%!", "null", "nil", " ,", "  ", "to ,", " to .", ": .", " 0 ", "blocked, which"} {
				if strings.Contains(s, slip) && !odd(a, slip) {
					t.Fatalf("%q in %q", slip, s)
				}
			}
		}
	})
}

// Another user, or the collector, may be able to read what this one could not.
func TestNothingIsStuckBecauseOfWhatCouldNotBeRead(t *testing.T) {
	eachObject(t, func(t *rapid.T, _ *graph.Graph, _ graph.Node, a *explain.Answer, _ *object.Object) {
		for _, s := range a.Next {
			if a.Consequence == collector.ConsequenceStuck && strings.HasPrefix(s, "About ") && strings.Contains(s, "it is unknown") {
				t.Fatalf("%s %s", a.Headline, s)
			}
			if strings.HasPrefix(s, "0 ") {
				t.Fatalf("%q counts nothing", s)
			}
		}
	})
}

// odd reports whether a reference contains the text itself, or is empty.
func odd(a *explain.Answer, slip string) bool {
	return slices.ContainsFunc(a.References, func(r explain.ExplainedReference) bool {
		return r.APIVersion == "" || r.Name == "" || strings.Contains(r.Name, slip)
	})
}

func TestCascadeHasNoMoreThanDependents(t *testing.T) {
	eachObject(t, func(t *rapid.T, g *graph.Graph, n graph.Node, a *explain.Answer, left *object.Object) {
		sum := 0
		for _, k := range a.Cascade.Kinds {
			sum += k.Objects
		}
		if sum != a.Cascade.Objects {
			t.Fatalf("%d objects, but %+v", a.Cascade.Objects, a.Cascade.Kinds)
		}
		below := graph.NewSet(g)
		g.AddDescendants(below, graph.Unlimited, n)
		if o := g.Object(n); !o.IsNamespace() && !o.IsCRD() && a.Cascade.Objects >= max(len(below.Nodes()), 1) && !contains(g, below) && !letsGo(g, below) {
			t.Fatalf("more is deleted with %s than depends on it: %+v", o, a.Cascade)
		}
	})
}

// letsGo reports whether an owner of one of them, or a Namespace, is being deleted: it may wait for that one, and what
// it owns or contains goes after it.
func letsGo(g *graph.Graph, s graph.Set) bool {
	terminating := func(n graph.Node) bool { return g.Object(n) != nil && g.Object(n).Terminating() }
	return slices.ContainsFunc(s.Nodes(), func(n graph.Node) bool { return slices.ContainsFunc(g.Owners(n), terminating) }) ||
		slices.ContainsFunc(g.Snapshot().Objects, func(o *object.Object) bool { return o.IsNamespace() && o.Terminating() })
}

// contains reports whether one of them is a namespace or CustomResourceDefinition.
func contains(g *graph.Graph, s graph.Set) bool {
	return slices.ContainsFunc(s.Nodes(), func(n graph.Node) bool {
		o := g.Object(n)
		return o != nil && (o.IsNamespace() || o.IsCRD())
	})
}
