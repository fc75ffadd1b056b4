package repair_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

var (
	web      = Deployment("a/web")
	before   = To(Deployment("a/web", UID("before")))
	beta     = As("apps/v1beta1", "Deployment")
	absent   = Absent("apps/v1", "Deployment", "a/web")
	notFound = Absent("v1", "ConfigMap", "a/gone")
	gone     = To(ConfigMap("a/gone"))
)

func dependent(refs ...object.Reference) object.Object { return Secret("a/x", Owned(refs...)) }

// repairs returns a line per reference of Secret a/x.
func repairs(s *snapshot.Snapshot) []string {
	g := graph.New(s)
	return told(repair.New(collector.NewJudge(g)).Object(g.Find("Secret/a/x")))
}

func told(mends []repair.Repair) []string {
	out := []string{}
	for _, m := range mends {
		said := string(m.Fix)
		if m.NeedsDecision {
			said += " if asked"
		}
		if m.Becomes.UID != "" {
			said += " " + m.Becomes.APIVersion + " " + m.Becomes.String() + " " + string(m.Becomes.UID)
		}
		out = append(out, strings.TrimSpace(said+" "+string(m.Found.State)))
	}
	return out
}

func TestObject(t *testing.T) {
	for name, c := range map[string]struct {
		seen []Part
		want []string
	}{
		"an owner that holds": {
			[]Part{Listing(dependent(To(web)), web)},
			[]string{"none OwnerExists"},
		},
		"an owner that is gone": {
			[]Part{Listing(dependent(gone)), notFound},
			[]string{"unlink"},
		},
		"an owner in another namespace": {
			[]Part{Listing(dependent(To(Deployment("b/web"))), Deployment("b/web")), absent},
			[]string{"unlink"},
		},
		"an owner in another namespace, where this one has an object of that name": {
			[]Part{Listing(dependent(To(Deployment("b/web"))), Deployment("b/web"), web)},
			[]string{"unlink"},
		},
		"the UID of another": {
			[]Part{Listing(dependent(To(web, Named("api"))), web), Absent("apps/v1", "Deployment", "a/api")},
			[]string{"unlink"},
		},
		"an owner that was replaced": {
			[]Part{Listing(dependent(before), web)},
			[]string{"relink apps/v1 Deployment/web Deployment/a/web"},
		},
		"an owner that was replaced, which only a GET shows": {
			[]Part{Unlisted("deployments.apps"), Listing(dependent(before)), Found(web)},
			[]string{"relink apps/v1 Deployment/web Deployment/a/web"},
		},
		"an owner that was replaced, spelled by accident": {
			[]Part{Listing(dependent(To(Deployment("a/web", UID("before")), As("apps/v1", "deployment"))), web)},
			[]string{"relink apps/v1 deployment/web Deployment/a/web"},
		},
		"an owner that was replaced by one that is being deleted, too": {
			[]Part{Listing(dependent(before), Deployment("a/web", Terminating("x/y")))},
			[]string{"none ReplacementTerminating"},
		},
		"an owner that was replaced by one that a list, but no GET, shows being deleted": {
			[]Part{Listing(dependent(before), Deployment("a/web", Foreground())), Found(web)},
			[]string{"none ReplacementTerminating"},
		},
		"an owner that was replaced by one that owns the object already": {
			[]Part{Listing(dependent(before, To(web)), web)},
			[]string{"unlink OwnerReferencedTwice", "none OwnerExists"},
		},
		"an owner that was replaced by one whose UID another bad reference has": {
			[]Part{Listing(dependent(before, To(web, Named("api"))), web), Absent("apps/v1", "Deployment", "a/api")},
			[]string{"relink apps/v1 Deployment/web Deployment/a/web", "unlink"},
		},
		"an owner that was replaced by one whose UID another reference has that could not be verified": {
			[]Part{
				Listing(dependent(To(web), To(Deployment("a/web", UID("before")), As("apps/v1", "deployment")))),
				Failed("apps/v1", "Deployment", "a/web", snapshot.Unverified), FoundAs("apps/v1", "deployment", web),
			},
			[]string{
				"none OwnerUnverified",
				"none OwnerReferencedTwiceUnknown",
			},
		},
		"a version of the past, and an owner that another reference has which could not be verified": {
			[]Part{
				Listing(dependent(To(web, As("apps/v1", "deployment")), To(web, beta))),
				Failed("apps/v1", "deployment", "a/web", snapshot.Unverified), Found(web),
			},
			[]string{
				"none OwnerUnverified",
				"none OwnerReferencedTwiceUnknown",
			},
		},
		"an owner that was replaced twice": {
			[]Part{Listing(dependent(before, To(web, WithUID("long before"))), web)},
			[]string{"relink apps/v1 Deployment/web Deployment/a/web", "unlink OwnerReferencedTwice"},
		},
		"an owner that was replaced by the object itself": {
			[]Part{Listing(dependent(To(Secret("a/x", UID("before")))))},
			[]string{"unlink OwnerIsDependent"},
		},
		"an owner that was replaced by a dependent": {
			[]Part{Listing(dependent(before), Deployment("a/web", OwnedBy(Secret("a/x"))))},
			[]string{"unlink OwnerOwnedByDependent"},
		},
		"an owner that was replaced by a dependent, which was restored, too": {
			[]Part{Listing(dependent(before), Deployment("a/web", Owned(To(Secret("a/x"), WithUID("before")))))},
			[]string{"unlink OwnerOwnedByDependent"},
		},
		"a version of the past": {
			[]Part{Listing(dependent(To(web, beta)), web)},
			[]string{"update-version apps/v1 Deployment/web Deployment/a/web"},
		},
		"a version of the past, in another group": {
			[]Part{Listing(dependent(To(web, As("extensions/v1beta1", "Deployment"))), web)},
			[]string{"update-version apps/v1 Deployment/web Deployment/a/web"},
		},
		"a version of the past, and an owner that only a GET shows": {
			[]Part{Unlisted("deployments.apps"), Listing(dependent(To(web, beta))), Found(web)},
			[]string{"update-version apps/v1 Deployment/web Deployment/a/web"},
		},
		"a version of the past, and an owner that was replaced": {
			[]Part{Listing(dependent(To(web, beta, WithUID("before"))), web)},
			[]string{"relink apps/v1 Deployment/web Deployment/a/web"},
		},
		"a version of the past, and an owner that is gone": {
			[]Part{Listing(dependent(To(web, beta))), absent},
			[]string{"unlink OwnerMissingInServedVersion"},
		},
		"a version of the past, and an owner in another namespace": {
			[]Part{Listing(dependent(To(Deployment("b/web"), beta)), Deployment("b/web"))},
			[]string{"unlink OwnerMismatched"},
		},
		"a version of the past, and a forbidden type": {
			[]Part{Listing(dependent(To(web, beta))), Unreadable("deployments.apps", snapshot.Forbidden)},
			[]string{"none OwnerUnverifiedInServedVersion"},
		},
		"a version of the past, and an owner that waits for its dependents": {
			[]Part{Listing(dependent(To(web, beta)), Deployment("a/web", Foreground()))},
			[]string{"none OwnerWaiting"},
		},
		"a version of the past, and an owner that is being deleted": {
			[]Part{Listing(dependent(To(web, beta)), Deployment("a/web", Terminating("x/y")))},
			[]string{"none OwnerTerminating"},
		},
		"a version of the past beside the present one": {
			[]Part{Listing(dependent(To(web), To(web, beta)), web)},
			[]string{"none OwnerExists", "unlink OwnerReferencedTwice"},
		},
		"a kind that nothing serves": {
			[]Part{Listing(dependent(To(web, As("example.com/v9", "Gadget"))))},
			[]string{"unlink if asked OwnerKindUnknown"},
		},
		"the kind of a list": {
			[]Part{Listing(dependent(To(Pod("a/p"), As("v1", "PodList"))), Pod("a/p"))},
			[]string{"unlink if asked OwnerKindIsList"},
		},
		"an owner that waits for its dependents": {
			[]Part{Listing(dependent(To(web)), Deployment("a/web", Foreground()))},
			[]string{"none OwnerWaiting"},
		},
		"an owner of a forbidden type, beside one that is gone": {
			[]Part{Listing(dependent(To(web), gone)), Unreadable("deployments.apps", snapshot.Forbidden), notFound},
			[]string{"none OwnerUnverified", "unlink"},
		},
		"an owner of a group that did not answer": {
			[]Part{Listing(dependent(To(web, beta))), Undiscovered("apps", snapshot.Unavailable)},
			[]string{"none OwnerUnverified"},
		},
		"an object that is being deleted": {
			[]Part{Listing(Secret("a/x", Owned(before, gone), Terminating("x/y")), web), notFound},
			[]string{
				"none DependentTerminating",
				"none DependentTerminating",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, repairs(New(c.seen...))); diff != "" {
				t.Errorf("mends (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjectWithNamespacedOwnerInClusterScope(t *testing.T) {
	g := graph.New(New(Listing(Node("x", OwnedBy(web)), web)))
	got := told(repair.New(collector.NewJudge(g)).Object(g.Find("Node/x")))
	if diff := cmp.Diff([]string{"unlink"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRewrittenReferenceKeepsItsFlags(t *testing.T) {
	g := graph.New(New(Listing(dependent(To(web, beta, Controlling, WithUID("before"))), web)))
	becomes := repair.New(collector.NewJudge(g)).Object(g.Find("Secret/a/x"))[0].Becomes
	if diff := cmp.Diff(To(web, Controlling), becomes); diff != "" {
		t.Error(diff)
	}
}

// Reading a single object does not show its dependents.
func TestReconsiderKnowsCyclesOfTheWholeGraph(t *testing.T) {
	owner := Deployment("a/web", OwnedBy(ConfigMap("a/between")))
	whole := graph.New(New(Listing(dependent(before), owner, ConfigMap("a/between", OwnedBy(Secret("a/x"))))))
	alone := graph.New(New(Listing(dependent(before)), Found(owner)))
	known := repair.New(collector.NewJudge(whole))
	got := told(known.Reconsider(collector.NewJudge(alone)).Object(0))
	if diff := cmp.Diff([]string{"unlink OwnerOwnedByDependent"}, got); diff != "" {
		t.Error(diff)
	}
}
