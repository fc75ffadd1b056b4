package reason_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestTheSentencesOfInventories(t *testing.T) {
	app := object.Identity{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: "argocd", Name: "shop", UID: "u-9"}
	for _, c := range []struct {
		reason  sentence
		message string
	}{
		{reason.InventoryDeleted{Controller: "Argo CD", Objects: 1}, "Argo CD deletes 1 object with it"},
		{reason.InventoryDeleted{Controller: "Argo CD", Objects: 3, Kept: 2}, "Argo CD deletes 3 objects with it and keeps 2"},
		{reason.InventoryDeleted{Controller: "Argo CD", Unread: 2}, "Argo CD deletes nothing else with it; Argo CD may delete 2 more, which this tool could not read"},
		{reason.InventoryDeleted{Controller: "Argo CD", Objects: 3, Unapproved: true}, "Argo CD deletes 3 objects with it; it waits until someone approves the deletion"},
		{reason.InventoryDeleted{Controller: "Flux", Objects: 3, Hooks: []string{"Job/drain"}}, "Flux deletes 3 objects with it; it also runs hooks, which may delete or create more: Job/drain"},
		{reason.InventoryUnread{Controller: "Flux", ErrorClass: "forbidden"}, "Flux also deletes what it has deployed, and this tool could not read what that is (forbidden)"},
		{reason.InventoryNotHeld("Flux", "finalizers.fluxcd.io"), "Flux deletes nothing with it: it does not have the finalizer finalizers.fluxcd.io"},
		{reason.InventoryKept("Flux", "suspend: true"), "Flux deletes nothing with it, because of suspend: true"},
		{reason.InventoryElsewhere("Argo CD", "cluster prod"), "Argo CD deletes what it has deployed to cluster prod, which is not shown here"},
		{reason.ExternalKept("deletionPolicy: Orphan"), "Crossplane keeps what it manages outside of the cluster, because of deletionPolicy: Orphan"},
		{reason.DeletedByController{Controller: "Argo CD", With: app}, "Argo CD deletes it with Application/shop"},
		{reason.KeptByMark{Controller: "Helm", Mark: "helm.sh/resource-policy: keep"}, "Helm keeps it because of helm.sh/resource-policy: keep"},
		{reason.DefinitionKept("Argo CD"), "Argo CD deletes no CustomResourceDefinitions"},
		{reason.KeptForOther("Flux", app), "Flux keeps it: its labels do not name Application/shop"},
		{reason.MarksUnread("Flux"), "its labels and annotations could not be read, with which it may tell Flux to keep it"},
	} {
		if got := c.reason.Message(); got != c.message {
			t.Errorf("%#v says %q, want %q", c.reason, got, c.message)
		}
	}
}
