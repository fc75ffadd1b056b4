package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var noMetrics = Undiscovered("metrics.k8s.io", snapshot.Unavailable)

func accepting(s *snapshot.Snapshot, words ...string) *plan.Plan {
	return plan.New(collector.NewJudge(graph.New(s)), plan.CollectPurpose(words))
}

// resting returns the steps of a plan, each with the accepted gaps that it depends on.
func resting(p *plan.Plan) []string {
	out := []string{}
	for _, s := range p.Steps {
		out = append(out, strings.TrimSpace(string(s.Action)+" "+s.Object.Name+" "+strings.Join(s.AcceptedGaps, ",")))
	}
	return out
}

func TestStepsNameTheAcceptedGapsTheyDependOn(t *testing.T) {
	release := ConfigMap("a/release", Foreground())
	lost := Secret("a/lost", OwnedBy(ConfigMap("a/gone")))
	for name, c := range map[string]struct {
		parts []Part
		words []string
		want  []string
	}{
		"without the word": {
			[]Part{Listing(release, lost), Absent("v1", "ConfigMap", "a/gone"), noMetrics}, nil, []string{"delete lost"},
		},
		"another word": {
			[]Part{Listing(release, lost), Absent("v1", "ConfigMap", "a/gone"), noMetrics}, []string{"secrets"}, []string{"delete lost"},
		},
		"a finalizer": {
			[]Part{Listing(release, lost), Absent("v1", "ConfigMap", "a/gone"), noMetrics},
			[]string{"metrics.k8s.io"},
			[]string{"delete lost", "remove-finalizer release metrics.k8s.io"},
		},
		"one of two gaps": {
			[]Part{Listing(release), noMetrics, noSecrets}, []string{"metrics.k8s.io"}, []string{},
		},
		"both of two gaps": {
			[]Part{Listing(release), noMetrics, noSecrets},
			[]string{"metrics.k8s.io", "secrets"},
			[]string{"remove-finalizer release metrics.k8s.io,secrets"},
		},
		"dependents of an orphaning owner": {
			[]Part{Listing(ConfigMap("a/owner", Terminating("orphan")), Pod("a/p", OwnedBy(ConfigMap("a/owner")))), noMetrics},
			[]string{"metrics.k8s.io"},
			[]string{"unlink p metrics.k8s.io", "remove-finalizer owner metrics.k8s.io"},
		},
		"a namespace rests on what may be in it": {
			append(slices.Clone(spaceIsGarbage), noSecrets, Undiscovered("policy", snapshot.Unavailable), Unreadable("clusterroles.rbac.authorization.k8s.io", snapshot.Forbidden)),
			[]string{"secrets", "policy", "clusterroles.rbac.authorization.k8s.io"},
			[]string{"delete a policy,secrets"},
		},
		"an owner that could not be verified": {
			[]Part{Listing(Secret("a/x", OwnedBy(ConfigMap("a/owner")))), Unreadable("configmaps", snapshot.Forbidden)}, []string{"configmaps"}, []string{},
		},
		"a definition": {
			append(slices.Clone(kindIsGarbage), noWidgets, noMetrics), []string{"widgets.example.com"}, []string{"delete widgets.example.com widgets.example.com"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := resting(accepting(New(c.parts...), c.words...))
			if c.want == nil {
				c.want = []string{}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDigestCoversAcceptedGaps(t *testing.T) {
	s := New(Listing(ConfigMap("a/release", Foreground())), noMetrics)
	p := accepting(s, "metrics.k8s.io", "unrelated.example.com")
	if diff := cmp.Diff(snapshot.AcceptedGaps{"metrics.k8s.io"}, p.AcceptedGaps); diff != "" {
		t.Error(diff)
	}
	if p.Complete || !p.CompleteButAccepted() {
		t.Errorf("complete: %v, but for what was accepted: %v", p.Complete, p.CompleteButAccepted())
	}
	other := accepting(New(Listing(ConfigMap("a/release", Foreground())), noMetrics, noSecrets), "metrics.k8s.io")
	if other.CompleteButAccepted() {
		t.Error("a gap that nobody accepted counts as accepted")
	}
	changed := *p
	changed.AcceptedGaps = nil
	if digestOf(&changed) == digestOf(p) {
		t.Error("the digest is the same without the accepted gap")
	}
	idle := New(noMetrics)
	if accepting(idle).Digest() == accepting(idle, "metrics.k8s.io").Digest() {
		t.Error("the digest is the same where nothing rests on the gap")
	}
}

func TestDeletionWithAcceptedGap(t *testing.T) {
	for name, hand := range map[string]simulate.Predictor{"from here": simulate.Own, "by the cluster": simulate.Cluster} {
		g := graph.New(New(Serving(TypesWithContents()...), Listing(Namespace("a"), ConfigMap("a/seen")), noSecrets))
		o := plan.DeletePurpose(hand, simulate.DeleteRequest{Node: g.Find("Namespace/a"), Policy: metav1.DeletePropagationBackground})
		o.Predictor.Accepted = snapshot.AcceptedGaps{"secrets"}
		if p := plan.New(collector.NewJudge(g), o); len(p.Steps) != 1 || len(p.Blocked) != 0 || !slices.Equal(p.Steps[0].AcceptedGaps, o.Predictor.Accepted) {
			t.Errorf("%s: steps %+v, blocked %+v", name, p.Steps, p.Blocked)
		}
	}
}

// Accepting gaps changes no verdict, and no step depends on an owner that could not be
// verified.
func TestAcceptedGapNeverProvesAbsence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Draw(t)
		words := plan.AcceptableGaps(graph.New(s), accepting(s))
		for _, step := range accepting(s, words...).Steps {
			for i, v := range step.Transition().Verdicts {
				if v == collector.VerdictUnknown && step.Transition().OrphanedFrom == graph.None { // an owner that is orphaned lets go whatever else there is
					t.Errorf("%s %s, though its owner %s is unknown", step.Action, step.Object, step.Transition().StateBefore.Owners[i])
				}
			}
		}
		g := graph.New(s)
		judge := collector.NewJudge(g)
		with, without := simulate.NewModel(judge, simulate.Own.Accepting(words)), simulate.NewModel(judge, simulate.Own)
		for n := range g.Listed() {
			a, b := with.Verdicts(graph.Node(n)), without.Verdicts(graph.Node(n))
			if !slices.Equal(a, b) {
				t.Errorf("%s: the verdicts are %v, and %v without acceptance", g.Object(graph.Node(n)), a, b)
			}
		}
	})
}
