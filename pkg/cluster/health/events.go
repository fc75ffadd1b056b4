package health

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var events = snapshot.Type{Version: "v1", Resource: "events", Kind: "Event", Namespaced: true}

// invalidNamespace is the reason of the collector's event about an owner in another namespace
// (docs/gc-semantics.md#invalid-namespace-event).
const invalidNamespace = "OwnerRefInvalidNamespace"

// ObjectsWithOwnersElsewhere returns the objects about which the collector has sent an event, in
// one namespace or, if that is empty, in all. It returns each once, sorted.
func ObjectsWithOwnersElsewhere(ctx context.Context, c *client.Client, namespace string) ([]object.Identity, error) {
	type event struct{ InvolvedObject object.Identity }
	found, err := client.ListWhole[event](ctx, c, client.Query{Type: events, Namespace: namespace}, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("reason", invalidNamespace).String()})
	if err != nil {
		return nil, err
	}
	var out []object.Identity
	for _, e := range found {
		out = append(out, e.InvolvedObject)
	}
	slices.SortFunc(out, object.Identity.Compare)
	return slices.Compact(out), nil
}
