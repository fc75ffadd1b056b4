package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector/collectortest"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func replicas(name string, with ...st.Option) object.Object {
	return st.Object("apps/v1", "ReplicaSet", "ns/"+name, with...)
}

// The collector's integration tests, as far as a model covers them: the state of all objects
// after some were deleted.
func TestSimulateIntegrationScenarios(t *testing.T) {
	const foreground, background = metav1.DeletePropagationForeground, metav1.DeletePropagationBackground
	a, b := replicas("a"), replicas("b")
	never := st.Pod("ns/never")
	ofA, ofB := st.To(a), st.To(b)
	pod := func(name string, refs ...object.Reference) object.Object {
		return st.Pod("ns/"+name, st.Owned(refs...))
	}
	widget := st.Object("example.com/v1", "Widget", "ns/w")
	config := st.ConfigMap("ns/c")
	definition := st.CRD("widgets.example.com")

	run(t, []scenario{
		{
			name: "I3 pods go with their last owner, and stay with another or with none", seen: listing(a, b, pod("p1", ofA), pod("p2", ofA, ofB), pod("p3")),
			deleted: []deletion{{a.UID, background}},
			moves:   []string{"1 unlink p2 a", "1 delete p1 Background"}, left: []string{"a gone", "p1 gone", "p2 unlinked"},
		},
		{name: "I4 a pod whose owner never was goes", seen: listing(pod("p", st.To(never))), moves: []string{"1 delete p Background"}, left: []string{"p gone"}},
		{
			name: "I6 an owner deleted with orphaning leaves its pods", seen: listing(a, pod("p1", ofA), pod("p2", ofA), pod("p3", ofA)),
			deleted: []deletion{{a.UID, metav1.DeletePropagationOrphan}},
			moves:   []string{"1 unlink p1 a", "1 unlink p2 a", "1 unlink p3 a", "1 remove-finalizer a orphan"},
			left:    []string{"a gone", "p1 unlinked", "p2 unlinked", "p3 unlinked"},
		},
		{
			name: "I7 a blocking pod with another owner only loses the one in foreground deletion", seen: listing(a, b, pod("p", st.To(a, st.Blocking), ofB)),
			deleted: []deletion{{a.UID, foreground}},
			moves:   []string{"1 unlink p a", "2 remove-finalizer a foregroundDeletion"}, left: []string{"a gone", "p unlinked"},
		},
		{
			name: "I8 pods that do not block and are held let their owner go", deleted: []deletion{{a.UID, foreground}},
			seen:  listing(a, st.Pod("ns/p1", st.OwnedBy(a), st.WithFinalizers("x/y")), st.Pod("ns/p2", st.Owned(notBlocking(ofA)), st.WithFinalizers("x/y"))),
			moves: []string{"1 remove-finalizer a foregroundDeletion", "2 delete p1 Background", "2 delete p2 Background"},
			left:  []string{"a gone", "p1 terminating x/y", "p2 terminating x/y"}, stuck: []string{"p1: p1 held", "p2: p2 held"},
		},
		{
			name: "I9 a held pod loses the collector's finalizer", seen: listing(st.Pod("ns/p", st.WithFinalizers("x/y"))), deleted: []deletion{{"Pod/ns/p", foreground}},
			moves: []string{"1 remove-finalizer p foregroundDeletion"}, left: []string{"p terminating x/y"}, stuck: []string{"p: p held"},
		},
		{
			name: "I9 and again when it is deleted so again", seen: listing(st.Pod("ns/p", st.Terminating("x/y"))), deleted: []deletion{{"Pod/ns/p", foreground}},
			moves: []string{"1 remove-finalizer p foregroundDeletion"}, left: []string{"p terminating x/y"}, stuck: []string{"p: p held"},
		},
		{
			name: "I10 a blocking pod that is held keeps its owner", deleted: []deletion{{a.UID, foreground}},
			seen:  listing(a, st.Pod("ns/p", st.Owned(st.To(a, st.Blocking)), st.WithFinalizers("x/y"))),
			moves: []string{"1 delete p Background"}, left: []string{"a terminating foregroundDeletion", "p terminating x/y"}, stuck: []string{"a: p held", "p: p held"},
		},
		{
			name: "I11 a custom resource and its custom dependent go", seen: listing(widget, st.Object("example.com/v1", "Widget", "ns/d", st.OwnedBy(widget))), deleted: []deletion{{widget.UID, foreground}},
			moves: []string{"1 remove-finalizer w foregroundDeletion", "2 delete d Background"}, left: []string{"d gone", "w gone"},
		},
		{
			name: "I12 a custom resource and its built-in dependent go", seen: listing(widget, st.ConfigMap("ns/d", st.OwnedBy(widget))), deleted: []deletion{{widget.UID, foreground}},
			moves: []string{"1 remove-finalizer w foregroundDeletion", "2 delete d Background"}, left: []string{"d gone", "w gone"},
		},
		{
			name: "I12 a built-in object and its custom dependent go", seen: listing(config, st.Object("example.com/v1", "Widget", "ns/d", st.OwnedBy(config))), deleted: []deletion{{config.UID, foreground}},
			moves: []string{"1 remove-finalizer c foregroundDeletion", "2 delete d Background"}, left: []string{"c gone", "d gone"},
		},
		{
			name: "I13 the instances of a deleted definition go, and what depends on them",
			seen: append([]st.Part{st.Serving(st.TypesWithContents()...)}, listing(
				st.CRD("widgets.example.com", st.OwnedBy(st.Node("gone"))), widget, st.ConfigMap("ns/d", st.OwnedBy(widget)))...),
			moves: []string{"1 delete widgets.example.com Background", "2 delete d Background"},
			left:  []string{"d gone", "w gone", "widgets.example.com gone"},
		},
		{
			name: "I13 a new definition of that name restores nothing",
			seen: append([]st.Part{st.Serving(st.TypesWithContents()...)}, listing(
				definition, st.Object("example.com/v1", "Widget", "ns/w", st.UID("successor")), st.ConfigMap("ns/d", st.OwnedBy(widget)))...),
			moves: []string{"1 delete d Background"}, left: []string{"d gone"},
		},
		{
			name: "I14 a type that cannot be read does not stop deletions elsewhere", deleted: []deletion{{a.UID, background}},
			seen:  append(listing(a, pod("p", ofA)), st.Unreadable("widgets.example.com", snapshot.Webhook)),
			moves: []string{"1 delete p Background"}, left: []string{"a gone", "p gone"},
		},
		{
			name: "I15 dependents of a cluster-scoped owner: one that answers, one that is missing, one of unknown kind",
			seen: append(listing(
				st.ConfigMap("ns/stays", st.OwnedBy(st.Node("n"))), st.ConfigMap("ns/goes", st.OwnedBy(st.Node("m"))),
				st.ConfigMap("ns/stuck", st.Owned(st.To(st.Node("n"), st.As("v1", "Foo"))))), st.Found(st.Node("n")), st.Absent("v1", "Node", "m")),
			moves: []string{"1 delete goes Background"}, left: []string{"goes gone"},
		},
	})
}

func notBlocking(r object.Reference) object.Reference {
	no := false
	r.BlockOwnerDeletion = &no
	return r
}

// A parent has valid dependents. In other namespaces, many objects name its UID with
// another kind, most of them next to references of unknown kinds.
func TestI1DependentsWithUnresolvableReferencesStay(t *testing.T) {
	parent := st.ConfigMap("b/parent")
	objects := []object.Object{parent}
	bad := object.Reference{APIVersion: "v1", Kind: "Pod", Name: "bad", UID: parent.UID}
	var unknown []object.Reference
	for i := range 25 {
		unknown = append(unknown, object.Reference{APIVersion: "v1", Kind: fmt.Sprintf("Unknown%d", i), Name: "x", UID: "other"})
	}
	for i := range 10 {
		objects = append(objects, st.Secret(fmt.Sprintf("b/good%d", i), st.OwnedBy(parent)))
	}
	var want []string
	for i := range 5 {
		objects = append(
			objects,
			st.ConfigMap(fmt.Sprintf("a/mixed%d", i), st.Owned(unknown...), st.Owned(bad)),
			st.Secret(fmt.Sprintf("a/mixed%d", i), st.Owned(bad), st.Owned(unknown...)),
			st.Secret(fmt.Sprintf("a/bad%d", i), st.Owned(bad)),
		)
		want = append(want, fmt.Sprintf("1 delete bad%d Background", i))
	}
	compare(t, "moves", want, describe(simulateAll(st.New(st.Listing(objects...)))))
}

// Fifty owners of three pods each are deleted in five ways, only one of which deletes the
// pods. A deletion without a policy shows in the finalizers.
func TestI5OnlyBackgroundDeletionDeletesPods(t *testing.T) {
	var objects []object.Object
	ways := []struct {
		held   []string
		policy metav1.DeletionPropagation
	}{
		{nil, metav1.DeletePropagationOrphan}, // none said, and the type's default
		{[]string{collectortest.Orphan}, ""},
		{[]string{collectortest.Orphan}, metav1.DeletePropagationBackground},
		{nil, metav1.DeletePropagationOrphan}, // orphanDependents
		{nil, metav1.DeletePropagationOrphan},
	}
	for i := range 50 {
		owner := replicas(fmt.Sprintf("rc%d", i), st.WithFinalizers(ways[i%5].held...))
		objects = append(objects, owner)
		for k := range 3 {
			objects = append(objects, st.Pod(fmt.Sprintf("ns/pod%d-%d", i, k), st.OwnedBy(owner)))
		}
	}
	m := modelOf(st.New(st.Listing(objects...)))
	for i := range 50 {
		n := m.Graph().Find(replicas(fmt.Sprintf("rc%d", i)).UID)
		m.SetState(n, simulate.StateAfterDelete(m.Object(n), ways[i%5].policy, nil, st.Taken))
	}
	simulate.RunFrom(m, simulate.Bounds{})
	owners, orphans := 0, 0
	for n := range m.Graph().Listed() {
		switch o := m.Object(graph.Node(n)); {
		case o == nil:
		case o.Kind == "Pod" && len(o.Owners) == 0:
			orphans++
		default:
			owners++
		}
	}
	if owners != 0 || orphans != 120 {
		t.Errorf("%d owners or pods with owners are left and %d orphans, want 0 and 120", owners, orphans)
	}
}

// The patches that the collector's own unit tests check.
func TestPatchedReferences(t *testing.T) {
	yes, no := true, false
	three := st.ConfigMap("ns/d", st.OwnedBy(st.Pod("ns/o1"), st.Pod("ns/o2"), st.Pod("ns/o3")))
	for _, test := range []struct {
		name   string
		before []*bool
		change object.Change
		want   []string
	}{
		{"G11 two of three owners are taken away", []*bool{nil, nil, nil}, object.Change{Drop: []int{1, 2}}, []string{"o1 unset"}},
		{"G12 what blocks no longer does, and what is unset stays so", []*bool{&yes, &no, nil}, object.Change{Unblock: []int{0}}, []string{"o1 false", "o2 false", "o3 unset"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := three
			before.Owners = slices.Clone(three.Owners)
			for i, block := range test.before {
				before.Owners[i].BlockOwnerDeletion = block
			}
			var got []string
			for _, r := range test.change.Apply(before).Owners {
				block := "unset"
				if r.BlockOwnerDeletion != nil {
					block = fmt.Sprint(*r.BlockOwnerDeletion)
				}
				got = append(got, r.Name+" "+block)
			}
			compare(t, "references", test.want, got)
		})
	}
}

func TestG13OwnerIsReleasedAfterItsLastDependentIsOrphaned(t *testing.T) {
	owner := st.ConfigMap("ns/o", st.Terminating(collectortest.Orphan))
	m := modelOf(st.New(st.Listing(owner, st.Pod("ns/d", st.OwnedBy(owner)), st.Pod("ns/e", st.OwnedBy(owner)))))
	o, d, e := m.Graph().Find(owner.UID), m.Graph().Find("Pod/ns/d"), m.Graph().Find("Pod/ns/e")
	for _, step := range []struct {
		orphaned graph.Node
		want     string
	}{{d, "orphan"}, {d, "orphan"}, {e, "remove-finalizer orphan"}} { // the second time a conflict kept e as it was
		m.Apply(step.orphaned, m.DecideOrphan(o, step.orphaned))
		if got := collectortest.DescribeDecision(m.Object(o), m.Decide(o)); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}
