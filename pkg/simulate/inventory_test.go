package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

const argo = "resources-finalizer.argocd.argoproj.io"

// application returns an object that Argo CD holds.
func application(name string, options ...st.Option) object.Object {
	return st.ConfigMap(name, append(options, st.WithFinalizers(argo))...)
}

// inventoryOf returns an inventory with these members, of a controller that waits for them.
func inventoryOf(policy metav1.DeletionPropagation, members ...object.Object) *snapshot.Inventory {
	out := &snapshot.Inventory{Controller: "Argo CD", Finalizer: argo, Policy: policy, Waits: true}
	for _, m := range members {
		out.Members = append(out.Members, snapshot.Member{Identity: m.Identity})
	}
	return out
}

func TestWhatControllersDeleteWithAnObject(t *testing.T) {
	const foreground, background, orphan = metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan
	app, child := application("a/app"), application("a/child")
	owner := st.Secret("b/owner")
	dependent := st.Secret("b/dependent", st.Owned(st.To(owner, st.Blocking)))
	held := st.Secret("b/held", st.WithFinalizers("example.com/hold"))
	space, inside := st.Namespace("space"), st.Secret("space/inside")
	system := st.Namespace("kube-system")
	near := st.Secret("a/near")
	both := st.Secret("a/both", st.OwnedBy(near, app))
	contested := st.Secret("b/contested")
	contested.Contested = true
	unread := inventoryOf(background, contested, owner)
	for i := range unread.Members {
		unread.Members[i].Unread = true
	}
	kept := inventoryOf(background, owner)
	kept.Members[0].Kept = reason.DefinitionKept("Argo CD")
	nothing := inventoryOf(background, owner)
	nothing.Nothing = reason.InventoryKept("Flux", "suspend: true")
	for name, c := range map[string]struct {
		objects     []object.Object
		inventories map[types.UID]*snapshot.Inventory
		want        []string // left at the end of the release
		members     map[string]string
		unsure      []string
	}{
		"its members and what they own": {
			[]object.Object{app, owner, dependent},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(foreground, owner)},
			[]string{"app gone", "dependent gone", "owner gone"},
			map[string]string{"owner": "app"},
			nil,
		},
		"members with finalizers of others": {
			[]object.Object{app, held},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(background, held)},
			[]string{"app gone", "held gone"},
			map[string]string{"held": "app"},
			nil,
		},
		"a namespace with everything in it": {
			[]object.Object{app, space, inside},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(background, space)},
			[]string{"app gone", "inside gone", "space gone"},
			map[string]string{"space": "app"},
			nil,
		},
		"an application of applications": {
			[]object.Object{app, child, owner},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(foreground, child), child.UID: inventoryOf(background, owner)},
			[]string{"app gone", "child gone", "owner gone"},
			map[string]string{"child": "app", "owner": "child"},
			nil,
		},
		"applications that contain each other wait for each other": {
			[]object.Object{app, child},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(background, child), child.UID: inventoryOf(background, app)},
			[]string{"app terminating " + argo, "child terminating " + argo},
			map[string]string{"child": "app"},
			nil,
		},
		"itself is no member": {
			[]object.Object{app},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(foreground, app)},
			[]string{"app gone"},
			map[string]string{},
			nil,
		},
		"what the API server never deletes": {
			[]object.Object{app, system},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(background, system)},
			[]string{"app terminating " + argo},
			map[string]string{},
			nil,
		},
		"what labels and annotations may keep, and what they own; nobody deletes an object whose UID is contested": {
			[]object.Object{app, owner, dependent, contested},
			map[types.UID]*snapshot.Inventory{app.UID: unread},
			[]string{"app terminating " + argo, "dependent gone", "owner gone"},
			map[string]string{"owner": "app"},
			[]string{"dependent", "owner"},
		},
		"what it keeps": {
			[]object.Object{app, owner, dependent},
			map[types.UID]*snapshot.Inventory{app.UID: kept},
			[]string{"app gone"},
			map[string]string{},
			nil,
		},
		"a controller that deletes nothing": {
			[]object.Object{app, owner},
			map[types.UID]*snapshot.Inventory{app.UID: nothing},
			[]string{"app gone"},
			map[string]string{},
			nil,
		},
		"the dependents of what it orphans stay": {
			[]object.Object{app, owner, dependent},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(orphan, owner)},
			[]string{"app gone", "dependent unlinked", "owner gone"},
			map[string]string{"owner": "app"},
			nil,
		},
		"the order decides about what one owner orphans and the other takes along": {
			[]object.Object{app, near, both},
			map[types.UID]*snapshot.Inventory{app.UID: inventoryOf(orphan, near)},
			[]string{"app gone", "both gone", "near gone"},
			map[string]string{"near": "app"},
			[]string{"both"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := st.New(st.Serving(st.TypesWithContents()...), st.Listing(c.objects...))
			s.Inventories = c.inventories
			g := graph.New(s)
			result := simulate.Run(collector.NewJudge(g), simulate.Cluster, simulate.Bounds{
				Roots: simulate.NoRoots, Deletes: []simulate.DeleteRequest{{Node: g.Find(app.UID), Policy: background}},
			})
			release := result.SimulateRelease()
			if diff := cmp.Diff(c.want, left(&release.Result)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			members := map[string]string{}
			for n, of := range release.Members {
				members[g.Object(n).Name] = g.Object(of).Name
			}
			if diff := cmp.Diff(c.members, members); diff != "" {
				t.Errorf("members (-want +got)\n%s", diff)
			}
			var unsure []string
			for n := range g.Listed() {
				if release.Result.Nondeterministic(graph.Node(n)) {
					unsure = append(unsure, g.Object(graph.Node(n)).Name)
				}
			}
			if diff := cmp.Diff(c.unsure, unsure); diff != "" {
				t.Errorf("uncertain (-want +got)\n%s", diff)
			}
		})
	}
}
