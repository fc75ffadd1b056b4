package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// ruleCase is an input for a rule. want has a line per finding: object, reference, severity,
// verdict, consequence and fix.
type ruleCase struct {
	name string
	seen []st.Part
	want []string
}

const beta = "rbac.authorization.k8s.io/v1beta1"

// rule checks the findings of a single rule, and compares those of the first case that has any with the
// JSON in testdata/rules, which -update writes.
func rule(t *testing.T, id string, cases []ruleCase) {
	t.Helper()
	options := audit.Filter{Rules: []string{id}, StuckAfter: terminating.DefaultStuckAfter}
	shown := false
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			report := run(t, st.New(c.seen...), options)
			if diff := cmp.Diff(c.want, lines(report)); diff != "" {
				t.Error(diff)
			}
			if len(report.Findings) > 0 && !shown {
				shown = true
				golden(t, "rules/"+id+".json", report.Findings)
			}
		})
	}
}

// golden compares the JSON of a value with a file in testdata, which -update writes.
func golden(t *testing.T, name string, value any) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run with -update to accept:\n%s", diff)
	}
}

func run(t failer, s *snapshot.Snapshot, o audit.Filter) *audit.Report {
	t.Helper()
	report, err := audit.Run(collector.NewJudge(graph.New(s)), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

type failer interface {
	Helper()
	Fatal(...any)
}

func lines(r *audit.Report) []string {
	var out []string
	for _, f := range r.Findings {
		about, verdict := "itself", string(f.Verdict)
		if f.Reference != nil {
			about = f.Reference.Kind + "/" + f.Reference.Name
		}
		if verdict == "" {
			verdict = "-"
		}
		out = append(out, fmt.Sprintf("%s: %s %s %s %s %s", f.Object.UID, about, f.Severity, verdict, f.Consequence, f.Fix))
	}
	return out
}

// child returns a ConfigMap ns/child with these references.
func child(refs ...object.Reference) object.Object {
	return st.ConfigMap("ns/child", st.Owned(refs...))
}

var (
	pod     = st.Pod("ns/pod")
	other   = st.Pod("ns/other")
	gone    = st.To(st.Pod("ns/gone"))
	foo     = st.To(st.Pod("ns/foo"), st.As("v1", "Foo"))
	unasked = st.To(st.Object("v1", "ComponentStatus", "cs"))
)

func TestMissingOwner(t *testing.T) {
	rule(t, "missing-owner", []ruleCase{
		{
			"the only owner is missing",
			[]st.Part{st.Listing(child(gone))},
			[]string{"ConfigMap/ns/child: Pod/gone error dangling delete unlink"},
		},
		{
			"another owner remains",
			[]st.Part{st.Listing(child(gone, st.To(pod)), pod)},
			[]string{"ConfigMap/ns/child: Pod/gone warning dangling unlink unlink"},
		},
		{
			"another reference is of unknown kind",
			[]st.Part{st.Listing(child(gone, foo))},
			[]string{"ConfigMap/ns/child: Pod/gone error dangling stuck unlink"},
		},
		{
			"another owner is unknown",
			[]st.Part{st.Listing(child(gone, unasked))},
			[]string{"ConfigMap/ns/child: Pod/gone warning dangling unknown unlink"},
		},
		{
			"the object is terminating",
			[]st.Part{st.Listing(st.ConfigMap("ns/child", st.Owned(gone), st.Terminating("x/y")))},
			[]string{"ConfigMap/ns/child: Pod/gone info dangling none none"},
		},
		{"the owner exists", []st.Part{st.Listing(child(st.To(pod)), pod)}, nil},
	})
}

func TestReplacedOwner(t *testing.T) {
	successor := st.Pod("ns/pod", st.UID("successor"))
	rule(t, "replaced-owner", []ruleCase{
		{
			"a successor of its name exists",
			[]st.Part{st.Listing(child(st.To(pod)), successor)},
			[]string{"ConfigMap/ns/child: Pod/pod error dangling delete relink"},
		},
		{
			"a successor answers a GET",
			[]st.Part{st.Listing(child(st.To(pod))), st.Found(successor)},
			[]string{"ConfigMap/ns/child: Pod/pod error dangling delete relink"},
		},
		{
			"the successor is its owner already",
			[]st.Part{st.Listing(child(st.To(pod), st.To(successor)), successor)},
			[]string{"ConfigMap/ns/child: Pod/pod warning dangling unlink unlink"},
		},
		{
			"another owner remains",
			[]st.Part{st.Listing(child(st.To(pod), st.To(other)), successor, other)},
			[]string{"ConfigMap/ns/child: Pod/pod warning dangling unlink relink"},
		},
		{"nothing of its name exists", []st.Part{st.Listing(child(gone))}, nil},
	})
}

func TestMismatchedOwner(t *testing.T) {
	rule(t, "mismatched-owner", []ruleCase{
		{
			"the UID lives under another name",
			[]st.Part{st.Listing(child(st.To(pod, st.Named("else"))), pod)},
			[]string{"ConfigMap/ns/child: Pod/else error dangling delete unlink"},
		},
		{
			"the UID lives under another kind",
			[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "Secret"))), pod)},
			[]string{"ConfigMap/ns/child: Secret/pod error dangling delete unlink"},
		},
		{
			"another owner remains",
			[]st.Part{st.Listing(child(st.To(pod, st.Named("else")), st.To(other)), pod, other)},
			[]string{"ConfigMap/ns/child: Pod/else warning dangling unlink unlink"},
		},
		{
			"the object is served under that kind too",
			[]st.Part{st.Listing(
				child(st.To(st.Object("legacy.example.com/v1", "Widget", "ns/w"))),
				st.Object("example.com/v1", "Widget", "ns/w", st.AlsoServedAs("legacy.example.com/v1", "Widget")))},
			nil,
		},
	})
}

func TestCrossNamespaceOwner(t *testing.T) {
	far := st.Pod("far/pod")
	rule(t, "cross-namespace-owner", []ruleCase{
		{
			"the owner lives in another namespace",
			[]st.Part{st.Listing(child(st.To(far)), far)},
			[]string{"ConfigMap/ns/child: Pod/pod error dangling delete unlink"},
		},
		{
			"another owner remains",
			[]st.Part{st.Listing(child(st.To(far), st.To(pod)), far, pod)},
			[]string{"ConfigMap/ns/child: Pod/pod warning dangling unlink unlink"},
		},
		{"the owner is cluster-scoped", []st.Part{st.Listing(child(st.To(st.Node("n"))), st.Node("n"))}, nil},
	})
}

func TestClusterToNamespacedOwner(t *testing.T) {
	rule(t, "cluster-to-namespaced-owner", []ruleCase{
		{
			"a cluster-scoped object names a namespaced kind",
			[]st.Part{st.Listing(st.Node("n", st.OwnedBy(pod)))},
			[]string{"Node/n: Pod/pod error scope-error stuck unlink"},
		},
		{
			"even where the owner exists",
			[]st.Part{st.Listing(st.Node("n", st.OwnedBy(pod)), pod)},
			[]string{"Node/n: Pod/pod error scope-error stuck unlink"},
		},
		{
			"in a version that is not served",
			[]st.Part{st.Listing(st.Node("n", st.Owned(st.To(pod, st.As("v2", "Pod")))))},
			[]string{"Node/n: Pod/pod error unresolvable stuck unlink"},
		},
		{
			"beside a good owner",
			[]st.Part{st.Listing(st.Node("n", st.OwnedBy(pod, st.Node("m"))), st.Node("m"))},
			[]string{"Node/n: Pod/pod error scope-error stuck unlink"},
		},
		{
			"while it is terminating",
			[]st.Part{st.Listing(st.Node("n", st.OwnedBy(pod), st.Terminating("x/y")))},
			[]string{"Node/n: Pod/pod info scope-error none none"},
		},
	})
}

// The collector may see a dependent in a namespace first, and look for the owners of the object there.
func TestClusterToNamespacedOwnerDependsOnTheOrderIfADependentIsInANamespace(t *testing.T) {
	wrong := st.Node("n", st.Owned(st.To(pod, st.Blocking), st.To(st.Node("m"))))
	for name, c := range map[string]struct {
		dependents []object.Object
		want       bool
	}{
		"no dependent":               {nil, false},
		"a cluster-scoped dependent": {[]object.Object{st.Node("other", st.OwnedBy(wrong))}, false},
		"a dependent in a namespace": {[]object.Object{st.ConfigMap("shop/c", st.OwnedBy(wrong))}, true},
	} {
		s := st.New(st.Listing(append(c.dependents, wrong, st.Node("m"))...))
		report := run(t, s, audit.Filter{Rules: []string{"cluster-to-namespaced-owner"}})
		if f := report.Findings[0]; (f.Nondeterministic != nil) != c.want || f.Consequence != collector.ConsequenceStuck {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestUnservedOwnerVersion(t *testing.T) {
	deployment := st.Deployment("ns/d")
	rule(t, "unserved-owner-version", []ruleCase{
		{
			"another version of the kind is served",
			[]st.Part{st.Listing(child(st.To(deployment, st.As("apps/v1beta1", "Deployment"))), deployment)},
			[]string{"ConfigMap/ns/child: Deployment/d error unresolvable stuck update-version"},
		},
		{
			"another version of the kind is served, and the owner is not there in that one",
			[]st.Part{st.Listing(child(st.To(deployment, st.As("apps/v1beta1", "Deployment"))))},
			[]string{"ConfigMap/ns/child: Deployment/d error unresolvable stuck unlink"},
		},
		{
			"its owner orphans it, and then no owner is left",
			[]st.Part{st.Listing(child(gone, st.To(deployment, st.As("apps/v1beta1", "Deployment"))), st.Deployment("ns/d", st.Terminating(object.OrphanFinalizer)))},
			[]string{"ConfigMap/ns/child: Deployment/d error unresolvable delete none"},
		},
		{
			"its owner orphans it, and another keeps it",
			[]st.Part{st.Listing(child(st.To(pod), st.To(deployment, st.As("apps/v1beta1", "Deployment"))), pod, st.Deployment("ns/d", st.Terminating(object.OrphanFinalizer)))},
			[]string{"ConfigMap/ns/child: Deployment/d warning unresolvable unlink none"},
		},
		{
			"the UID exists in a group that is served",
			[]st.Part{st.Listing(child(st.To(deployment, st.As("extensions/v1beta1", "Deployment"))), deployment)},
			[]string{"ConfigMap/ns/child: Deployment/d error unresolvable stuck update-version"},
		},
		{
			"beside a good owner",
			[]st.Part{st.Listing(child(st.To(deployment, st.As("apps/v1beta1", "Deployment")), st.To(pod)), pod, deployment)},
			[]string{"ConfigMap/ns/child: Deployment/d error unresolvable stuck update-version"},
		},
		{
			"the UID belongs to an object of another kind, so that no version would do",
			[]st.Part{st.Listing(child(st.To(pod, st.As("apps/v1beta1", "Deployment"))), pod)},
			[]string{"ConfigMap/ns/child: Deployment/pod error unresolvable stuck unlink"},
		},
		{
			"the UID lives in another namespace, so that no version would do",
			[]st.Part{st.Listing(child(st.To(st.Deployment("far/d"), st.As("apps/v1beta1", "Deployment"))), st.Deployment("far/d"))},
			[]string{"ConfigMap/ns/child: Deployment/d error unresolvable stuck unlink"},
		},
		{"a version that is served but not preferred", []st.Part{st.Listing(child(st.To(st.Role("ns/r"), st.As(beta, "Role"))), st.Role("ns/r"))}, nil},
	})
}

func TestUnknownOwnerKind(t *testing.T) {
	rule(t, "unknown-owner-kind", []ruleCase{
		{
			"no such kind",
			[]st.Part{st.Listing(child(foo))},
			[]string{"ConfigMap/ns/child: Foo/foo error unresolvable stuck unlink"},
		},
		{
			"no such spelling of a kind",
			[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "POD"))), pod)},
			[]string{"ConfigMap/ns/child: POD/pod error unresolvable stuck unlink"},
		},
		{
			"beside a good owner",
			[]st.Part{st.Listing(child(foo, st.To(pod)), pod)},
			[]string{"ConfigMap/ns/child: Foo/foo error unresolvable stuck unlink"},
		},
		{
			"the group could not be discovered",
			[]st.Part{st.Undiscovered("example.com", snapshot.Unavailable), st.Listing(child(st.To(st.Object("example.com/v1", "Widget", "ns/w"))))},
			nil,
		},
	})
}

func TestUnverifiedOwner(t *testing.T) {
	rule(t, "unverified-owner", []ruleCase{
		{
			"the owner's type is forbidden",
			[]st.Part{st.Unreadable("pods", snapshot.Forbidden), st.Listing(child(st.To(pod)))},
			[]string{"ConfigMap/ns/child: Pod/pod warning unknown unknown none"},
		},
		{
			"the GET failed",
			[]st.Part{st.Failed("v1", "Pod", "ns/pod", snapshot.ServerError), st.Listing(child(st.To(pod)))},
			[]string{"ConfigMap/ns/child: Pod/pod warning unknown unknown none"},
		},
		{
			"the name can't be asked for",
			[]st.Part{st.Listing(child(st.To(pod, st.Named("../pod"))))},
			[]string{"ConfigMap/ns/child: Pod/../pod warning unknown unknown none"},
		},
		{
			"the group could not be discovered",
			[]st.Part{st.Undiscovered("example.com", snapshot.Unavailable), st.Listing(child(st.To(st.Object("example.com/v1", "Widget", "ns/w"))))},
			[]string{"ConfigMap/ns/child: Widget/w warning unknown unknown none"},
		},
		{
			"while the object is terminating",
			[]st.Part{st.Unreadable("pods", snapshot.Forbidden), st.Listing(st.ConfigMap("ns/child", st.OwnedBy(pod), st.Terminating("x/y")))},
			[]string{"ConfigMap/ns/child: Pod/pod info unknown none none"},
		},
	})
}

func TestTerminatingOwner(t *testing.T) {
	leaving := st.Pod("ns/pod", st.Foreground())
	rule(t, "terminating-owner", []ruleCase{
		{
			"the only owner goes in the foreground",
			[]st.Part{st.Listing(child(st.To(pod)), leaving)},
			[]string{"ConfigMap/ns/child: Pod/pod warning waiting delete none"},
		},
		{
			"another owner remains",
			[]st.Part{st.Listing(child(st.To(pod), st.To(other)), leaving, other)},
			[]string{"ConfigMap/ns/child: Pod/pod warning waiting unlink none"},
		},
		{
			"another reference is of unknown kind",
			[]st.Part{st.Listing(child(st.To(pod), foo), leaving)},
			[]string{"ConfigMap/ns/child: Pod/pod error waiting stuck none"},
		},
		{
			"the object is terminating too",
			[]st.Part{st.Listing(st.ConfigMap("ns/child", st.OwnedBy(pod), st.Terminating("x/y")), leaving)},
			[]string{"ConfigMap/ns/child: Pod/pod info waiting none none"},
		},
		{"the owner goes in the background", []st.Part{st.Listing(child(st.To(pod)), st.Pod("ns/pod", st.Terminating("x/y")))}, nil},
	})
}

func TestOwnerCycle(t *testing.T) {
	a, b, c := st.Pod("ns/a"), st.Pod("ns/b"), st.Pod("ns/c")
	owned := func(o object.Object, with ...st.Option) object.Object {
		for _, change := range with {
			change(&o)
		}
		return o
	}
	rule(t, "owner-cycle", []ruleCase{
		{
			"two own each other: one finding",
			[]st.Part{st.Listing(owned(a, st.OwnedBy(b)), owned(b, st.OwnedBy(a)))},
			[]string{"Pod/ns/a: itself error - stuck unlink"},
		},
		{
			"three in a ring",
			[]st.Part{st.Listing(owned(a, st.OwnedBy(b)), owned(b, st.OwnedBy(c)), owned(c, st.OwnedBy(a)))},
			[]string{"Pod/ns/a: itself error - stuck unlink"},
		},
		{
			"one of them is being deleted",
			[]st.Part{st.Listing(owned(a, st.OwnedBy(b)), owned(b, st.OwnedBy(a), st.Terminating("x/y")))},
			[]string{"Pod/ns/a: itself warning - none unlink"},
		},
		{
			"one of them waits for its dependents",
			[]st.Part{st.Listing(owned(a, st.OwnedBy(b)), owned(b, st.OwnedBy(a), st.Foreground()))},
			[]string{"Pod/ns/a: itself warning - none unlink"},
		},
		{
			"each of them is being deleted and blocks another, so that none ever goes",
			[]st.Part{st.Listing(
				owned(a, st.Owned(st.To(b, st.Blocking)), st.Foreground()),
				owned(b, st.Owned(st.To(a, st.Blocking)), st.Foreground()))},
			[]string{"Pod/ns/a: itself error - stuck unlink"},
		},
		{
			"each of them is being deleted, but not every one blocks another",
			[]st.Part{st.Listing(
				owned(a, st.Owned(st.To(b, st.Blocking)), st.Foreground()),
				owned(b, st.OwnedBy(a), st.Foreground()))},
			[]string{"Pod/ns/a: itself warning - none unlink"},
		},
		{
			"each of them is being deleted, but one blocks only itself, which is the matter of self-owner",
			[]st.Part{st.Listing(
				owned(a, st.Owned(st.To(b, st.Blocking)), st.Foreground()),
				owned(b, st.Owned(st.To(a), st.To(b, st.Blocking)), st.Foreground()),
			)},
			[]string{"Pod/ns/a: itself warning - none unlink"},
		},
		{
			"each of them blocks another, but not every one is being deleted",
			[]st.Part{st.Listing(
				owned(a, st.Owned(st.To(b, st.Blocking)), st.Foreground()),
				owned(b, st.Owned(st.To(a, st.Blocking))))},
			[]string{"Pod/ns/a: itself warning - none unlink"},
		},
		{
			"through a reference that dangles there is none",
			[]st.Part{st.Listing(owned(a, st.Owned(st.To(b, st.Named("else")))), owned(b, st.OwnedBy(a)))},
			nil,
		},
		{
			"through an owner in another namespace there is none",
			[]st.Part{st.Listing(owned(a, st.OwnedBy(st.Pod("far/b"))), st.Pod("far/b", st.OwnedBy(a)))},
			nil,
		},
		{"a self-owner is none", []st.Part{st.Listing(owned(a, st.OwnedBy(a)))}, nil},
		{"a chain is none", []st.Part{st.Listing(owned(a, st.OwnedBy(b)), b)}, nil},
	})
}

func TestSelfOwner(t *testing.T) {
	self := func(with ...st.Option) object.Object {
		return st.Pod("ns/pod", with...)
	}
	rule(t, "self-owner", []ruleCase{
		{
			"it names itself",
			[]st.Part{st.Listing(self(st.OwnedBy(pod)))},
			[]string{"Pod/ns/pod: Pod/pod error solid stuck unlink"},
		},
		{
			"it names itself wrongly",
			[]st.Part{st.Listing(self(st.Owned(st.To(pod, st.Named("else")))))},
			[]string{"Pod/ns/pod: Pod/else error dangling delete unlink"},
		},
		{
			"it names itself wrongly beside a good owner",
			[]st.Part{st.Listing(self(st.Owned(st.To(pod, st.Named("else")), st.To(other))), other)},
			[]string{"Pod/ns/pod: Pod/else warning dangling unlink unlink"},
		},
		{
			"it is being deleted",
			[]st.Part{st.Listing(self(st.OwnedBy(pod), st.Terminating("x/y")))},
			[]string{"Pod/ns/pod: Pod/pod info solid none unlink"},
		},
		{
			"it is being deleted in the foreground",
			[]st.Part{st.Listing(self(st.OwnedBy(pod), st.Foreground()))},
			[]string{"Pod/ns/pod: Pod/pod info waiting none unlink"},
		},
		{
			"it is being deleted in the foreground and waits for itself",
			[]st.Part{st.Listing(self(st.Owned(st.To(pod, st.Blocking)), st.Foreground()))},
			[]string{"Pod/ns/pod: Pod/pod error waiting stuck unlink"},
		},
	})
}

func TestDuplicateOwner(t *testing.T) {
	wrong, orphaning := st.To(pod, st.Named("wrong")), st.Pod("ns/pod", st.Terminating(object.OrphanFinalizer))
	rule(t, "duplicate-owner", []ruleCase{
		{
			"two good references",
			[]st.Part{st.Listing(child(st.To(pod), st.To(pod)), pod)},
			[]string{"ConfigMap/ns/child: Pod/pod info solid none unlink"},
		},
		{
			"three good references",
			[]st.Part{st.Listing(child(st.To(pod), st.To(pod), st.To(pod)), pod)},
			[]string{"ConfigMap/ns/child: Pod/pod info solid none unlink", "ConfigMap/ns/child: Pod/pod info solid none unlink"},
		},
		{
			"a bad one behind a good one takes it along",
			[]st.Part{st.Listing(child(st.To(pod), wrong), pod)},
			[]string{"ConfigMap/ns/child: Pod/wrong warning dangling unlink unlink"},
		},
		{
			"a bad one before a good one takes it along",
			[]st.Part{st.Listing(child(wrong, st.To(pod)), pod)},
			[]string{"ConfigMap/ns/child: Pod/pod warning solid unlink unlink"},
		},
		{
			"two bad ones",
			[]st.Part{st.Listing(child(gone, gone))},
			[]string{"ConfigMap/ns/child: Pod/gone error dangling delete unlink"},
		},
		{
			"two of an owner that goes",
			[]st.Part{st.Listing(child(st.To(pod), st.To(pod)), st.Pod("ns/pod", st.Foreground()))},
			[]string{"ConfigMap/ns/child: Pod/pod warning waiting delete unlink"},
		},
		{
			"a good and a bad one while something else is stuck",
			[]st.Part{st.Listing(child(st.To(pod), wrong, foo), pod)},
			[]string{"ConfigMap/ns/child: Pod/wrong error dangling stuck unlink"},
		},
		{
			"an owner orphans the object, which loses both",
			[]st.Part{st.Listing(child(wrong, st.To(pod)), orphaning)},
			[]string{"ConfigMap/ns/child: Pod/pod warning solid unlink unlink"},
		},
		{
			"an owner orphans the object, which loses both, while something else is stuck",
			[]st.Part{st.Listing(child(foo, wrong, st.To(pod)), orphaning)},
			[]string{"ConfigMap/ns/child: Pod/pod warning solid unlink unlink"},
		},
		{
			"an owner orphans the object, which is being deleted itself",
			[]st.Part{st.Listing(st.ConfigMap("ns/child", st.Owned(wrong, st.To(pod)), st.Terminating("example.com/hold")), orphaning)},
			[]string{"ConfigMap/ns/child: Pod/pod info solid none unlink"},
		},
		{"two owners", []st.Part{st.Listing(child(st.To(pod), st.To(other)), pod, other)}, nil},
	})
}

func TestMultipleControllers(t *testing.T) {
	control := func(o object.Object) object.Reference { return st.To(o, st.Controlling) }
	rule(t, "multiple-controllers", []ruleCase{
		{
			"two good ones",
			[]st.Part{st.Listing(child(control(pod), control(other)), pod, other)},
			[]string{"ConfigMap/ns/child: Pod/other warning solid none unlink"},
		},
		{
			"three good ones",
			[]st.Part{st.Listing(child(control(pod), control(other), control(pod)), pod, other)},
			[]string{"ConfigMap/ns/child: Pod/other warning solid none unlink", "ConfigMap/ns/child: Pod/pod warning solid none unlink"},
		},
		{
			"a reference is to be dropped, which the API server refuses",
			[]st.Part{st.Listing(child(control(pod), control(other), gone), pod, other)},
			[]string{"ConfigMap/ns/child: Pod/other error solid stuck unlink"},
		},
		{
			"one of them is to be dropped, which leaves a single one",
			[]st.Part{st.Listing(child(gone, control(pod), st.To(other, st.Controlling, st.Named("wrong"))), pod, other)},
			[]string{"ConfigMap/ns/child: Pod/wrong warning dangling unlink unlink"},
		},
		{
			"one of them goes with its bad double, which leaves a single one",
			[]st.Part{st.Listing(child(control(pod), control(other), st.To(other, st.Named("wrong"))), pod, other)},
			[]string{"ConfigMap/ns/child: Pod/other warning solid none unlink"},
		},
		{
			"both are gone, and a deletion is no update",
			[]st.Part{st.Listing(child(gone, control(pod), control(other)))},
			[]string{"ConfigMap/ns/child: Pod/other error dangling delete unlink"},
		},
		{
			"while it is terminating",
			[]st.Part{st.Listing(st.ConfigMap("ns/child", st.Owned(control(pod), control(other)), st.Terminating("x/y")), pod, other)},
			[]string{"ConfigMap/ns/child: Pod/other warning solid none unlink"},
		},
		{"one controls, one only owns", []st.Part{st.Listing(child(control(pod), st.To(other)), pod, other)}, nil},
	})
}

func TestStuckFinalizer(t *testing.T) {
	terminating := func(age time.Duration, finalizers ...string) []st.Part {
		return []st.Part{st.Listing(st.ConfigMap("ns/child", st.TerminatingFor(age, finalizers...)))}
	}
	rule(t, "stuck-finalizer", []ruleCase{
		{
			"held for longer than allowed", terminating(11*time.Minute, "x/y"),
			[]string{"ConfigMap/ns/child: itself warning - none none"},
		},
		{
			"held, beside the collector's own", terminating(time.Hour, object.ForegroundFinalizer, "x/y"),
			[]string{"ConfigMap/ns/child: itself warning - none none"},
		},
		{"held for just as long as allowed", terminating(10*time.Minute, "x/y"), nil},
		{"held by the collector alone", terminating(time.Hour, object.ForegroundFinalizer, object.OrphanFinalizer), nil},
		{"terminating without any finalizer", terminating(time.Hour), nil},
		{"in its grace period, which ends later", terminating(-time.Minute, "x/y"), nil},
		{"held while alive", []st.Part{st.Listing(st.ConfigMap("ns/child", st.WithFinalizers("x/y")))}, nil},
	})
}

func TestBlockedDeletion(t *testing.T) {
	owner := st.ConfigMap("ns/owner", st.Foreground())
	blocker := func(more ...st.Option) object.Object {
		return st.Secret("ns/blocker", append([]st.Option{st.Owned(st.To(owner, st.Blocking))}, more...)...)
	}
	long := func(finalizer string, more ...st.Option) object.Object {
		return st.ConfigMap("ns/owner", append([]st.Option{st.TerminatingFor(time.Hour, finalizer)}, more...)...)
	}
	stuck := []string{"ConfigMap/ns/owner: itself error - stuck none"}
	waits := []string{"ConfigMap/ns/owner: itself warning - none none"}
	rule(t, "blocked-deletion", []ruleCase{
		{"what blocks can go, so the deletion ends", []st.Part{st.Listing(owner, blocker())}, nil},
		{"what blocks is held by a finalizer", []st.Part{st.Listing(owner, blocker(st.WithFinalizers("x/y")))}, waits},
		{"a Pod that blocks is stopping", []st.Part{st.Listing(owner, st.Pod("ns/pod", st.Owned(st.To(owner, st.Blocking)), st.InGracePeriod()))}, waits},
		{
			"what blocks cannot be judged",
			[]st.Part{st.Listing(owner, blocker(st.Owned(st.To(owner, st.As("old/v1", "Thing")))))},
			stuck,
		},
		{"what blocks is cluster-scoped", []st.Part{st.Listing(owner, st.Node("blocker", st.Owned(st.To(owner, st.Blocking))))}, stuck},
		{"it blocks itself", []st.Part{st.Listing(long(object.ForegroundFinalizer, st.Owned(st.To(owner, st.Blocking))))}, stuck},
		{"it has just begun, and nothing blocks", []st.Part{st.Listing(owner)}, nil},
		{"nothing has blocked it for an hour", []st.Part{st.Listing(long(object.ForegroundFinalizer))}, waits},
		{"nothing has referred to it for an hour while it is orphaned", []st.Part{st.Listing(long(object.OrphanFinalizer))}, waits},
		{
			"what may block could not be read",
			[]st.Part{st.Listing(owner), st.Unreadable("widgets.example.com", snapshot.Forbidden)},
			[]string{"ConfigMap/ns/owner: itself warning - unknown none"},
		},
	})
}

func TestStuckNamespace(t *testing.T) {
	shop := func(more ...st.Option) object.Object {
		return st.Namespace("shop", append([]st.Option{st.TerminatingFor(time.Hour)}, more...)...)
	}
	seen := func(objects ...object.Object) []st.Part {
		return []st.Part{st.Serving(st.TypesWithContents()...), st.Listing(objects...)}
	}
	held := st.Secret("shop/held", st.Terminating("x/y"))
	specFinalizer := func(o *object.Object) { o.NamespaceStatus.Finalizers = []string{"x/y"} }
	dead, broken := st.Undiscovered("metrics.k8s.io", snapshot.Unavailable), st.Unreadable("widgets.example.com", snapshot.Webhook)
	undiscovered, undeleted := st.Reporting(object.DiscoveryFailure, "stale"), st.Reporting(object.ContentFailure, "denied")
	fails := []string{"Namespace/shop: itself error - stuck none"}
	waits := []string{"Namespace/shop: itself warning - none none"}
	unknown := []string{"Namespace/shop: itself warning - unknown none"}
	rule(t, "stuck-namespace", []ruleCase{
		{"an API group cannot be discovered", append(seen(shop(undiscovered)), dead), fails},
		{"an API group could not be discovered, and now can", seen(shop(undiscovered)), unknown},
		{"an API group cannot be discovered, which is not reported yet", append(seen(shop(st.Reporting())), dead), waits},
		{"a version cannot be parsed", seen(shop(st.Reporting(object.GroupVersionFailure, "a/b/c"))), fails},
		{"a type cannot be listed", append(seen(shop(undeleted)), broken), fails},
		{"a type cannot be listed by this user either", append(seen(shop(undeleted)), st.Unreadable("widgets.example.com", snapshot.Forbidden)), fails},
		{"contents cannot be deleted", seen(shop(undeleted), st.ConfigMap("shop/kept")), fails},
		{"contents could not be deleted, and are gone now", seen(shop(undeleted)), unknown},
		{"all contents were deleted, and a finalizer holds one", seen(shop(undeleted), held), waits},
		{"all Pods were deleted, and one should have stopped, so nothing else is deleted with it", seen(shop(undeleted), st.Pod("shop/lost", st.InGracePeriod()), st.ConfigMap("shop/later")), waits},
		{
			"all Pods were deleted, and on an old server nothing waits for them",
			append(seen(shop(undeleted), st.Pod("shop/lost", st.InGracePeriod()), st.ConfigMap("shop/kept")), st.FromServer("v1.32.0")), fails,
		},
		{
			"a Pod should have stopped, and a type could not be read by this user",
			append(seen(shop(undeleted), st.Pod("shop/lost", st.InGracePeriod())), st.Unreadable("widgets.example.com", snapshot.Forbidden)), waits,
		},
		{
			"a Pod should have stopped, and a type cannot be listed",
			append(seen(shop(undeleted), st.Pod("shop/lost", st.InGracePeriod())), broken), fails,
		},
		{"contents are held by a finalizer", seen(shop(st.Reporting(object.ContentRemaining, "1", object.FinalizersRemaining, "1")), held), waits},
		{"contents are held by a finalizer, and its conditions could not be read", seen(shop(), held), waits},
		{"a finalizer in its spec holds it", seen(shop(st.Reporting(), specFinalizer)), waits},
		{"its own finalizer holds it", seen(shop(st.Reporting(), st.WithFinalizers("x/y"))), waits},
		{"its conditions could not be read", seen(shop()), unknown},
		{"it has no conditions", seen(shop(func(o *object.Object) { o.NamespaceStatus = &object.NamespaceStatus{} })), unknown},
		{"nothing keeps it", seen(shop(st.Reporting())), unknown},
		{"contents that nothing holds were not deleted", seen(shop(st.Reporting()), st.ConfigMap("shop/kept")), unknown},
		{"it has been terminating for just as long as allowed", seen(st.Namespace("shop", st.TerminatingFor(10*time.Minute), undeleted), st.ConfigMap("shop/kept")), nil},
		{"it is alive", seen(st.Namespace("shop"), st.ConfigMap("shop/kept")), nil},
		{"another object is terminating", seen(st.ConfigMap("shop/kept", st.TerminatingFor(time.Hour))), nil},
	})
}

func TestCausesOfStuckNamespace(t *testing.T) {
	service := func(name string) object.Object {
		return st.Object("apiregistration.k8s.io/v1", "APIService", name)
	}
	held := func(name string, finalizers ...string) object.Object {
		return st.Secret("shop/"+name, st.Terminating(finalizers...))
	}
	apiServices := snapshot.Type{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices", Kind: "APIService", Verbs: []string{"delete", "get", "list", "watch"}, Preferred: true}
	for name, c := range map[string]struct {
		status st.Option
		seen   []st.Part
		want   []string
	}{
		"names the APIServices of the group": {
			st.Reporting(object.DiscoveryFailure, "unable to retrieve"),
			[]st.Part{st.Listing(service("v1."), service("v1.metrics.k8s.io"), service("v1beta1.metrics.k8s.io"), service("v1.apps")), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)},
			[]string{"stays while the namespace controller cannot discover API group metrics.k8s.io (unavailable): see APIService v1.metrics.k8s.io, APIService v1beta1.metrics.k8s.io"},
		},
		"names only the APIService whose version the namespace controller names": {
			st.Reporting(object.DiscoveryFailure, "1 failing: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"),
			[]st.Part{st.Listing(service("v1beta1."), service("v1beta1.k8s.io"), service("v1.metrics.k8s.io"), service("v1beta1.metrics.k8s.io")), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable)},
			[]string{"stays while the namespace controller cannot discover API group metrics.k8s.io (unavailable): see APIService v1beta1.metrics.k8s.io"},
		},
		"names no APIService of a group that can be discovered again": {
			st.Reporting(object.DiscoveryFailure, "metrics.k8s.io/v1: stale"),
			[]st.Part{st.Listing(service("v1.metrics.k8s.io"))},
			[]string{"stayed because the namespace controller could not discover every API group, but now every API group answers"},
		},
		"puts the cause to repair first, and names what is left": {
			st.Reporting(object.ContentFailure, "no", object.ContentRemaining, "3", object.FinalizersRemaining, "2"),
			[]st.Part{st.Listing(st.ConfigMap("shop/kept"), held("a", "x/a", "x/b"), held("b", "x/b"), held("c", object.ForegroundFinalizer)), st.Unreadable("widgets.example.com", snapshot.Webhook)},
			[]string{
				"stays while the API server cannot list widgets.example.com (conversion-webhook), and while the namespace controller cannot delete configmaps (1)",
				"still contains configmaps (1), secrets (3); finalizer x/b holds Secret/a and 1 more, finalizer x/a holds Secret/a",
			},
		},
		"names contents that cannot be deleted once": {
			st.Reporting(object.ContentFailure, "no"),
			[]st.Part{st.Listing(st.ConfigMap("shop/kept"), st.Secret("shop/kept"))},
			[]string{"stays while the namespace controller cannot delete configmaps (1), secrets (1)"},
		},
		"counts Pods that should have stopped": {
			st.Reporting(object.ContentFailure, "unexpected items"),
			[]st.Part{st.Listing(st.Pod("shop/lost", st.InGracePeriod()), st.Pod("shop/stopping", st.InGracePeriodUntil(time.Minute)))},
			[]string{"still contains pods (2); 1 Pod should have stopped"},
		},
		"says what could not be read": {
			st.Reporting(),
			[]st.Part{st.Unreadable("widgets.example.com", snapshot.Forbidden)},
			[]string{"waits for its contents to be deleted, and may stay because this tool could not list all of them: widgets.example.com (forbidden)"},
		},
		"says only what holds it if the namespace controller has finished, whatever its conditions say": {
			func(o *object.Object) {
				st.Reporting(object.DiscoveryFailure, "stale", object.ContentFailure, "stale")(o)
				o.NamespaceStatus.Finalized, o.Finalizers = true, []string{"x/y"}
			},
			[]st.Part{st.Unreadable("widgets.example.com", snapshot.Webhook), st.Undiscovered("metrics.k8s.io", snapshot.Unavailable), st.Listing(st.Secret("shop/left"))},
			[]string{"is held by x/y"},
		},
		"says that the conditions could not be read": {
			func(*object.Object) {}, nil, []string{"has conditions that this tool could not read, so it is unknown whether the namespace controller fails"},
		},
		"says that nothing was reported": {
			func(o *object.Object) { o.NamespaceStatus = &object.NamespaceStatus{} }, nil, []string{"has no condition of the namespace controller, which may not be running"},
		},
		"names what holds it before what seems to be over": {
			st.Reporting(object.DiscoveryFailure, "1 failing: metrics.k8s.io/v1beta1: stale"),
			[]st.Part{st.Listing(st.ConfigMap("shop/held", st.Terminating("example.com/hold")))},
			[]string{"still contains configmaps (1); finalizer example.com/hold holds ConfigMap/held", "stayed because the namespace controller could not discover every API group, but now every API group answers"},
		},
		"says that nothing holds it": {st.Reporting(), nil, []string{"should be gone: nothing holds it or its contents, so the namespace controller may not be running"}},
	} {
		t.Run(name, func(t *testing.T) {
			shop := st.Namespace("shop", st.TerminatingFor(time.Hour), c.status)
			s := st.New(append([]st.Part{st.Serving(apiServices), st.Serving(st.TypesWithContents()...), st.Listing(shop)}, c.seen...)...)
			report := run(t, s, audit.Filter{Rules: []string{"stuck-namespace"}})
			var got []string
			for _, cause := range report.Findings[0].Reason.Parameters.(reason.NamespaceStuck).Causes {
				got = append(got, cause.Message())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Deleting the APIService of a group that the API server itself serves repairs nothing.
func TestOnlyAPIServicesOfOtherServersCountAsAggregated(t *testing.T) {
	for group, want := range map[string]bool{
		"metrics.k8s.io": true, "custom.metrics.k8s.io": true, "things.example.com": true,
		"apps": false, "rbac.authorization.k8s.io": false, "notmetrics.k8s.io": false, "example.com": false,
	} {
		s := st.New(st.Serving(st.TypesWithContents()...), st.Undiscovered(group, snapshot.Unavailable), st.Listing(
			st.Namespace("shop", st.TerminatingFor(time.Hour), st.Reporting(object.DiscoveryFailure, "stale")),
			st.CRD("widgets.example.com"), st.Object("apiregistration.k8s.io/v1", "APIService", "v1."+group),
		))
		of := func(s *snapshot.Snapshot) []terminating.APIService {
			judge := collector.NewJudge(graph.New(s))
			return terminating.InState(simulate.NewModel(judge, simulate.Own)).Of(judge.Graph().Find("Namespace/shop")).Namespace.APIServices
		}
		if diff := cmp.Diff([]terminating.APIService{{Name: "v1." + group, Aggregated: want}}, of(s)); diff != "" {
			t.Error(diff)
		}
		st.Unlisted("customresourcedefinitions.apiextensions.k8s.io")(s)
		if got := of(s); got[0].Aggregated {
			t.Errorf("%s counts as aggregated, although it may have CustomResourceDefinitions", group)
		}
	}
}

func TestUnmonitoredOwner(t *testing.T) {
	status := st.Object("v1", "ComponentStatus", "cs")
	rule(t, "unmonitored-owner", []ruleCase{
		{
			"the owner answers, but nobody watches it",
			[]st.Part{st.Listing(child(st.To(status))), st.Found(status)},
			[]string{"ConfigMap/ns/child: ComponentStatus/cs info solid none none"},
		},
		{
			"D7: such an owner is in foreground deletion, which the collector does not notice",
			[]st.Part{st.Listing(child(st.To(status))), st.Found(st.Object("v1", "ComponentStatus", "cs", st.Foreground()))},
			[]string{"ConfigMap/ns/child: ComponentStatus/cs info waiting none none"},
		},
		{"such an owner is gone", []st.Part{st.Listing(child(st.To(status))), st.Absent("v1", "ComponentStatus", "cs")}, nil},
		{"nobody looked", []st.Part{st.Listing(child(st.To(status)))}, nil},
		{
			"a watched kind in another served version",
			[]st.Part{st.Listing(child(st.To(st.Role("ns/r"), st.As(beta, "Role"))), st.Role("ns/r"))},
			nil,
		},
	})
}

func TestMisspelledOwnerKind(t *testing.T) {
	rule(t, "misspelled-owner-kind", []ruleCase{
		{
			"a kind in lower case",
			[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "pod"))), pod)},
			[]string{"ConfigMap/ns/child: pod/pod info solid none none"},
		},
		{
			"a kind in lower case whose owner is gone",
			[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "pod"))))},
			[]string{"ConfigMap/ns/child: pod/pod error dangling delete none"},
		},
		{
			"a kind in lower case whose owner goes",
			[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "pod"))), st.Pod("ns/pod", st.Foreground()))},
			[]string{"ConfigMap/ns/child: pod/pod warning waiting delete none"},
		},
		{
			"a list kind",
			[]st.Part{st.Listing(child(st.To(pod, st.As("v1", "PodList"))), pod)},
			[]string{"ConfigMap/ns/child: PodList/pod error dangling delete none"},
		},
		{
			"an empty apiVersion",
			[]st.Part{st.Listing(child(st.To(pod, st.As("", "Pod"))), pod)},
			[]string{"ConfigMap/ns/child: Pod/pod info solid none none"},
		},
		{
			"a malformed apiVersion",
			[]st.Part{st.Listing(child(st.To(pod, st.As("a/b/c", "Pod"))), pod)},
			[]string{"ConfigMap/ns/child: Pod/pod info solid none none"},
		},
		{"a spelling that leads nowhere", []st.Part{st.Listing(child(st.To(pod, st.As("v1", "POD"))), pod)}, nil},
		{"a plain one", []st.Part{st.Listing(child(st.To(pod)), pod)}, nil},
	})
}

func TestFindingNamesTheUndecidableReference(t *testing.T) {
	tests := map[string]struct {
		seen st.Part
		want string
	}{
		"the object goes":    {st.Listing(child(gone, foo)), "the garbage collector cannot resolve the object's reference to Foo/foo, so it keeps the object; once that is repaired, it may delete this object"},
		"the reference goes": {st.Listing(child(st.To(pod), gone, foo), pod), "the garbage collector cannot resolve the object's reference to Foo/foo, so it keeps the object; once that is repaired, it may remove this reference"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			findings := run(t, st.New(test.seen), audit.Filter{Rules: []string{"missing-owner"}}).Findings
			if len(findings) != 1 || !strings.HasSuffix(findings[0].Message(), test.want) {
				t.Errorf("got %+v", findings)
			}
		})
	}
}

func TestOutdatedOwnerVersion(t *testing.T) {
	role, gone := st.Role("ns/role"), st.Role("ns/gone")
	leaving := child(st.To(role, st.As(beta, "Role")))
	leaving.Deleted, leaving.Finalizers = &time.Time{}, []string{"example.com/hold"}
	rule(t, "outdated-owner-version", []ruleCase{
		{
			"the owner exists, and another version is preferred",
			[]st.Part{st.Listing(child(st.To(role, st.As(beta, "Role"))), role)},
			[]string{"ConfigMap/ns/child: Role/role info solid none update-version"},
		},
		{"the preferred version", []st.Part{st.Listing(child(st.To(role)), role)}, nil},
		{"the owner is missing", []st.Part{st.Listing(child(st.To(gone, st.As(beta, "Role"))), role), st.Absent(beta, "Role", "ns/gone")}, nil},
		{"the version is not served", []st.Part{st.Listing(child(st.To(role, st.As("rbac.authorization.k8s.io/v1alpha1", "Role"))), role)}, nil},
		{
			"a reference of an object that is being deleted is not repaired",
			[]st.Part{st.Listing(leaving, role)},
			[]string{"ConfigMap/ns/child: Role/role info solid none none"},
		},
	})
}

// The ids are part of the JSON contract: docs/rules.md has them, by usual severity. -update adds the
// rows of new rules, with the severity that testdata/rules shows.
func TestRules(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "rules.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^\| \[([a-z-]+)\]\(#([a-z-]+)\) \| (.+) \| (error|warning|info) \|\n`)
	rows := table.FindAllSubmatchIndex(page, -1)
	var documented, severities []string
	for _, row := range table.FindAllSubmatch(page, -1) {
		documented = append(documented, fmt.Sprintf("%s (#%s): %s", row[1], row[2], row[3]))
		severities = append(severities, string(row[4]))
	}
	if order := []string{"error", "warning", "info"}; !slices.IsSortedFunc(severities, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) }) {
		t.Errorf("the rules are not in the order of their severities: %v", severities)
	}
	slices.Sort(documented)
	var rules []string
	for _, rule := range audit.Rules {
		rules = append(rules, fmt.Sprintf("%s (#%[1]s): %s", rule.ID, rule.Summary))
		if rule.Summary == "" || !strings.HasSuffix(rule.Summary, ".") || strings.Count(rule.Summary, ".") > 1 {
			t.Errorf("%s: the summary is not one sentence: %q", rule.ID, rule.Summary)
		}
	}
	if *update {
		added := ""
		for _, rule := range audit.Rules[len(rows):] {
			added += fmt.Sprintf("| [%s](#%[1]s) | %s | %s |\n", rule.ID, rule.Summary, shown(t, rule.ID)[0].Severity)
		}
		end := rows[len(rows)-1][1]
		if err := os.WriteFile(file, slices.Concat(page[:end], []byte(added), page[end:]), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(documented, slices.Sorted(slices.Values(rules))); diff != "" {
		t.Errorf("docs/rules.md has other rules: run with -update to add new ones (-page +program):\n%s", diff)
	}
}

// shown returns the findings in testdata/rules of a rule.
func shown(t *testing.T, id string) []struct{ Rule, Severity string } {
	t.Helper()
	var findings []struct{ Rule, Severity string }
	text, err := os.ReadFile(filepath.Join("testdata", "rules", id+".json"))
	if err == nil {
		err = json.Unmarshal(text, &findings)
	}
	if err != nil || len(findings) == 0 || findings[0].Rule != id {
		t.Fatalf("no test shows the rule %s: %v", id, err)
	}
	return findings
}

func TestEveryRuleHasASectionOfItsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range audit.IDs() {
		shown(t, id)
		if !bytes.Contains(page, []byte("\n## "+id+"\n")) {
			t.Errorf("%s has no section", id)
		}
	}
}
