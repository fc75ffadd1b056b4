package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// What a controller deletes by an inventory counts like everything that is deleted later, and is part of what a person confirms.
func TestInventoriesCount(t *testing.T) {
	app := Object("example.com/v1", "Widget", "argocd/app", WithFinalizers("example.com/app"))
	settings, kept := ConfigMap("shop/settings"), ConfigMap("shop/kept")
	below := Secret("shop/below", OwnedBy(settings))
	planned := func(in *snapshot.Inventory) *plan.Plan {
		s := New(Listing(app, settings, below, kept))
		if in != nil {
			in.Controller, in.Finalizer, in.Policy = "Argo CD", "example.com/app", inBackground
			s.Inventories = map[types.UID]*snapshot.Inventory{app.UID: in}
		}
		return deleting(s, inBackground, app)
	}
	member := func(o object.Object) snapshot.Member { return snapshot.Member{Identity: o.Identity} }
	mark := reason.Of(reason.KeptByMark{Controller: "Argo CD", Mark: "helm.sh/resource-policy: keep"})
	unread := snapshot.Member{Identity: settings.Identity, Unread: true}
	digests := map[string]string{}
	for name, c := range map[string]struct {
		inventory *snapshot.Inventory
		lost      int
		want      []string
	}{
		"without an inventory": {nil, 1, []string{"app terminating example.com/app", "app blocked: is held by example.com/app"}},
		"members, and what they own": {
			&snapshot.Inventory{Members: []snapshot.Member{member(settings), {Identity: kept.Identity, Kept: mark}}}, 3,
			[]string{
				"settings deleted later after app example.com/app", "below deleted later after settings example.com/app", "app terminating example.com/app",
				"kept stays, loses 0: Argo CD keeps it because of helm.sh/resource-policy: keep", "app blocked: is held by example.com/app",
			},
		},
		"marks that could not be read": {
			&snapshot.Inventory{Members: []snapshot.Member{unread}}, 3,
			[]string{
				"settings deleted later after app example.com/app; unsure: its labels and annotations could not be read, with which it may tell Argo CD to keep it",
				"below deleted later after settings example.com/app; unsure: it depends on what happens to ConfigMap/settings",
				"app terminating example.com/app", "app blocked: is held by example.com/app",
			},
		},
		"an inventory that could not be read": {&snapshot.Inventory{Unknown: snapshot.Forbidden}, 1, []string{"app terminating example.com/app", "app blocked: is held by example.com/app"}},
		"a controller that deletes nothing": {
			&snapshot.Inventory{Members: []snapshot.Member{member(settings)}, Nothing: reason.InventoryKept("Flux", "suspend: true")}, 1,
			[]string{"app terminating example.com/app", "app blocked: is held by example.com/app"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(c.inventory)
			if len(p.LostObjects) != c.lost {
				t.Errorf("%d objects are lost, want %d", len(p.LostObjects), c.lost)
			}
			if diff := cmp.Diff(c.want, predicted(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if other, known := digests[p.Digest()]; known {
				t.Errorf("has the digest of a plan %s", other)
			}
			digests[p.Digest()] = name
		})
	}
}

func TestAdmissionOfWhatControllersDelete(t *testing.T) {
	app := Object("example.com/v1", "Widget", "argocd/app", WithFinalizers("example.com/app"))
	settings := ConfigMap("shop/settings")
	below := Secret("shop/below", OwnedBy(settings))
	refusal := func(doubt reason.AdmissionDoubt) reason.AdmissionAnswer {
		of := object.Identity{Kind: "ValidatingAdmissionPolicy", Name: "guard"}
		return reason.AdmissionAnswer{Refused: doubt == "", Because: reason.RefusedByAdmission{By: of, Doubt: doubt, Said: "no"}}
	}
	for doubt, want := range map[reason.AdmissionDoubt][]string{
		"": {"app terminating example.com/app", "settings stays, loses 0: " + reason.Of(refusal("").Because).Message(), "app blocked: is held by example.com/app"},
		reason.CannotBeAsked: {
			"settings deleted later after app example.com/app; unsure: " + reason.Of(refusal(reason.CannotBeAsked).Because).Message(),
			"below deleted later after settings example.com/app; unsure: it depends on what happens to ConfigMap/settings",
			"app terminating example.com/app", "app blocked: is held by example.com/app",
		},
	} {
		s := New(Listing(app, settings, below))
		s.Inventories = map[types.UID]*snapshot.Inventory{app.UID: {
			Controller: "Argo CD", Finalizer: "example.com/app", Policy: inBackground, Waits: true, Members: []snapshot.Member{{Identity: settings.Identity}},
		}}
		s.Answers = snapshot.Answers{{UID: settings.UID, Operation: "DELETE"}: refusal(doubt)}
		if diff := cmp.Diff(want, predicted(deleting(s, inBackground, app))); diff != "" {
			t.Errorf("%q (-want +got)\n%s", doubt, diff)
		}
	}
}
