package plan_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var (
	lostOwner      = OwnedBy(Node("gone"))
	noSecrets      = Unreadable("secrets", snapshot.Forbidden)
	noWidgets      = Unreadable("widgets.example.com", snapshot.Webhook)
	hiddenSecrets  = "this tool could not list its contents: secrets (forbidden)"
	hiddenWidgets  = "this tool could not list its contents: widgets.example.com (conversion-webhook)"
	spaceIsGarbage = []Part{Serving(TypesWithContents()...), Listing(Namespace("a", lostOwner), ConfigMap("a/seen")), Absent("v1", "Node", "gone")}
	kindIsGarbage  = []Part{Serving(TypesWithContents()...), Listing(CRD("widgets.example.com", lostOwner)), Absent("v1", "Node", "gone")}
)

// isBlocked checks that a plan has no steps and blocks only that object for that reason.
func isBlocked(t *testing.T, p *plan.Plan, name, reason string) {
	t.Helper()
	if len(p.Steps) != 0 || len(p.Outcomes) != 0 {
		t.Errorf("steps %+v, outcomes %+v", p.Steps, p.Outcomes)
	}
	if len(p.Blocked) != 1 || p.Blocked[0].Object.Name != name || !strings.Contains(p.Blocked[0].Reason.Message(), reason) {
		t.Errorf("blocked: %+v", p.Blocked)
	}
}

func TestCollectKeepsUnlistedContents(t *testing.T) {
	for name, c := range map[string]struct {
		parts        []Part
		keeps, cause string
	}{
		"a namespace with forbidden Secrets":          {append(spaceIsGarbage, noSecrets), "a", hiddenSecrets},
		"a definition whose instances cannot be read": {append(kindIsGarbage, noWidgets), "widgets.example.com", hiddenWidgets},
	} {
		t.Run(name, func(t *testing.T) {
			isBlocked(t, plan.New(collector.NewJudge(graph.New(New(c.parts...))), plan.CollectPurpose(nil)), c.keeps, c.cause)
		})
	}
	for name, parts := range map[string][]Part{"a namespace": spaceIsGarbage, "a definition": kindIsGarbage} {
		if p := plan.New(collector.NewJudge(graph.New(New(parts...))), plan.CollectPurpose(nil)); len(p.Steps) != 1 || len(p.Blocked) != 0 {
			t.Errorf("%s that was seen whole: %+v, blocked %+v", name, p.Steps, p.Blocked)
		}
	}
}

func TestDeletionOfUnlistedContentsIsBlocked(t *testing.T) {
	root := Node("root")
	for name, c := range map[string]struct {
		parts         []Part
		target        object.Object
		theirs, ours  string // blocked, by the cluster's collector or ours
		blocked       string
		oursGoesAhead bool
	}{
		"a namespace":  {[]Part{Listing(Namespace("a"), ConfigMap("a/seen")), noSecrets}, Namespace("a"), hiddenSecrets, hiddenSecrets, "a", false},
		"a definition": {[]Part{Listing(CRD("widgets.example.com")), noWidgets}, CRD("widgets.example.com"), hiddenWidgets, hiddenWidgets, "widgets.example.com", false},
		"the owner of a namespace": {
			[]Part{Listing(root, Namespace("a", OwnedBy(root))), noSecrets},
			root,
			"this would also delete Namespace/a, and this tool could not list its contents: secrets (forbidden)", hiddenSecrets, "root", true,
		},
		"the owner of a namespace that goes later": {
			[]Part{Listing(Node("root", WithFinalizers("x/y")), Namespace("a", OwnedBy(root))), noSecrets},
			root,
			"this would also delete Namespace/a, and this tool could not list its contents: secrets (forbidden)", "", "root", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(append([]Part{Serving(TypesWithContents()...)}, c.parts...)...)
			for _, policy := range []metav1.DeletionPropagation{inBackground, inForeground} {
				g := graph.New(s)
				deletes := simulate.DeleteRequest{Node: g.Find(c.target.UID), Policy: policy}
				isBlocked(t, plan.New(collector.NewJudge(g), plan.DeletePurpose(simulate.Cluster, deletes)), c.blocked, c.theirs)
				changed := plan.New(collector.NewJudge(g), plan.DeletePurpose(simulate.Own, deletes))
				if !c.oursGoesAhead {
					isBlocked(t, changed, c.blocked, c.ours)
					continue
				}
				for _, step := range changed.Steps {
					if step.Object.Kind == "Namespace" && step.Action == plan.ActionDelete {
						t.Errorf("from here: %+v", step)
					}
				}
			}
		})
	}
}

func TestOtherDeletionsAreNotBlocked(t *testing.T) {
	root, other := Node("root"), Node("other")
	g := graph.New(New(Serving(TypesWithContents()...), Listing(root, other, Namespace("a", OwnedBy(root))), noSecrets))
	p := plan.New(collector.NewJudge(g), plan.DeletePurpose(simulate.Cluster,
		simulate.DeleteRequest{Node: g.Find(root.UID), Policy: inBackground}, simulate.DeleteRequest{Node: g.Find(other.UID), Policy: inBackground}))
	if len(p.Steps) != 1 || p.Steps[0].Object.Name != "other" || len(p.Blocked) != 1 || p.Blocked[0].Object.Name != "root" {
		t.Errorf("steps %+v, blocked %+v", p.Steps, p.Blocked)
	}
}

func TestRandomPlansKeepUnlistedContents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Draw(t)
		view := snapshot.NewView(s)
		for _, step := range plan.New(collector.NewJudge(graph.New(s)), plan.CollectPurpose(nil)).Steps {
			if of := step.Object.Identity; step.Action == plan.ActionDelete && len(view.ContentsGaps(of, nil)) > 0 {
				t.Errorf("%s is deleted, and what is in it was not all listed", of)
			}
		}
	})
}
