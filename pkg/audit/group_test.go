package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

func TestGroups(t *testing.T) {
	old, older := st.Deployment("ns/old"), st.Deployment("ns/older")
	web := st.Deployment("ns/web", st.UID("u-web"))
	foreign, beside := st.ConfigMap("far/a"), st.ConfigMap("far/b")
	of := func(path string, owners ...object.Object) object.Object {
		return st.ConfigMap(path, st.OwnedBy(owners...))
	}
	long := func(path string, finalizers ...string) object.Object {
		return st.ConfigMap(path, st.TerminatingFor(time.Hour, finalizers...))
	}
	waiting, alsoWaiting := st.ConfigMap("ns/w-1", st.Foreground()), st.ConfigMap("ns/w-2", st.Foreground())
	many := make([]object.Object, 60)
	for i := range many {
		many[i] = of(fmt.Sprintf("ns/c-%02d", i), old)
	}
	for name, c := range map[string]struct {
		seen []st.Part
		want []string // rule, objects, and namespaces with their numbers of objects
	}{
		"no findings are no groups": {[]st.Part{st.Listing(web)}, nil},
		"60 objects with one absent owner are one group": {
			[]st.Part{st.Listing(many...), st.Absent("apps/v1", "Deployment", "ns/old")},
			[]string{"missing-owner 60 ConfigMap/c-00 ns 60"},
		},
		"two absent owners are two causes, and the one with more objects comes first": {
			[]st.Part{st.Listing(of("ns/a", old), of("ns/b", older), of("ns/c", older)), st.Absent("apps/v1", "Deployment", "ns/old"), st.Absent("apps/v1", "Deployment", "ns/older")},
			[]string{"missing-owner 2 ConfigMap/b ns 2", "missing-owner 1 ConfigMap/a ns 1"},
		},
		"one owner named as controller and as plain owner is one cause": {
			[]st.Part{st.Listing(of("ns/a", old), st.ConfigMap("ns/b", st.Owned(st.To(old, st.Controlling)))), st.Absent("apps/v1", "Deployment", "ns/old")},
			[]string{"missing-owner 2 ConfigMap/a ns 2"},
		},
		"a lost object and a lost reference to the same owner are apart: the result differs": {
			[]st.Part{st.Listing(web, of("ns/a", old), of("ns/b", old, web)), st.Absent("apps/v1", "Deployment", "ns/old")},
			[]string{"missing-owner 1 ConfigMap/a ns 1", "missing-owner 1 ConfigMap/b ns 1"},
		},
		"owners in one foreign namespace are one cause": {
			[]st.Part{st.Listing(foreign, beside, of("ns/x", foreign), of("ns/y", beside), of("other/z", beside))},
			[]string{"cross-namespace-owner 3 ConfigMap/x ns 2 other 1"},
		},
		"one finalizer is one cause, whatever the age": {
			[]st.Part{st.Listing(long("ns/a", "example.com/x"), st.ConfigMap("ns/b", st.TerminatingFor(2*time.Hour, "example.com/x")), long("ns/c", "example.com/y"))},
			[]string{"stuck-finalizer 2 ConfigMap/a ns 2", "stuck-finalizer 1 ConfigMap/c ns 1"},
		},
		"deletions that wait for one object are one cause": {
			[]st.Part{st.Listing(waiting, alsoWaiting, st.ConfigMap("ns/held", st.Terminating("example.com/x"), st.Owned(st.To(waiting, st.Blocking), st.To(alsoWaiting, st.Blocking))))},
			[]string{"blocked-deletion 2 ConfigMap/w-1 ns 2", "terminating-owner 1 ConfigMap/held ns 1", "terminating-owner 1 ConfigMap/held ns 1"},
		},
		"Namespaces that an API group keeps are one cause": {
			[]st.Part{st.Listing(
				st.Namespace("a", st.TerminatingFor(time.Hour), st.Reporting(object.DiscoveryFailure, "down")),
				st.Namespace("b", st.TerminatingFor(2*time.Hour), st.Reporting(object.DiscoveryFailure, "down"))), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)},
			[]string{"stuck-namespace 2 Namespace/a 2"},
		},
		"each cycle is a group of its own": {
			[]st.Part{st.Cycle(2), st.Listing(of("ns/self", st.ConfigMap("ns/self")), of("ns/self2", st.ConfigMap("ns/self2")))},
			[]string{"self-owner 2 ConfigMap/self ns 2", "owner-cycle 1 ConfigMap/o0000000 ns 1"},
		},
		"what one gap leaves open is one group": {
			[]st.Part{st.Listing(of("ns/a", old), of("ns/b", older)), st.Unreadable("deployments.apps", snapshot.Forbidden)},
			[]string{"unverified-owner 2 ConfigMap/a ns 2"},
		},
		"owners that a file may lack are causes of their own": {
			[]st.Part{st.Listing(of("ns/a", old), of("ns/b", older), of("ns/c", older)), st.Unreadable("deployments.apps", snapshot.NotInFile)},
			[]string{"unverified-owner 2 ConfigMap/b ns 2", "unverified-owner 1 ConfigMap/a ns 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := audit.Run(collector.NewJudge(graph.New(st.New(c.seen...))), audit.Filter{StuckAfter: terminating.DefaultStuckAfter})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range audit.Groups(r.Findings) {
				line := fmt.Sprintf("%s %d %s", g.Findings[0].Rule, len(g.Objects), g.Objects[0])
				for _, in := range g.Namespaces {
					line += fmt.Sprintf(" %s %d", in.Name, in.Objects)
				}
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGroupsCountAnObjectOnce(t *testing.T) {
	twice := object.Identity{Kind: "ConfigMap", Namespace: "ns", Name: "twice", UID: "u"}
	reference := &object.Reference{APIVersion: "v1", Kind: "ConfigMap", Name: "old", UID: "u-old"}
	one := audit.Finding{Rule: "missing-owner", Severity: audit.Error, Object: twice, Reference: reference, Effect: reason.DeletesObject}
	found := []audit.Finding{one, one, {Cluster: "edge", Rule: "missing-owner", Severity: audit.Error, Object: twice, Reference: reference, Effect: reason.DeletesObject}}
	groups := audit.Groups(found)
	if len(groups) != 2 || len(groups[0].Objects) != 1 || len(groups[0].Findings) != 2 || len(groups[1].Objects) != 1 {
		t.Errorf("got %+v", groups)
	}
}

func TestMostSevereFirst(t *testing.T) {
	found := []audit.Finding{
		{Rule: "d", Severity: audit.Info},
		{Rule: "b", Severity: audit.Error, Consequence: collector.ConsequenceStuck},
		{Rule: "c", Severity: audit.Warning},
		{Rule: "a", Severity: audit.Error, Consequence: collector.ConsequenceDelete},
	}
	got := ""
	for _, f := range audit.MostSevereFirst(found) {
		got += f.Rule
	}
	if got != "abcd" {
		t.Error(got)
	}
}
