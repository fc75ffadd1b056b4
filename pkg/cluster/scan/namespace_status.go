package scan

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var namespaces = snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}

// readNamespaceStatuses reads the status of every Namespace that is terminating. Metadata does not
// hold it, so each is requested whole. What cannot be read stays nil. The error is the context's.
func (sc *scanner) readNamespaceStatuses(ctx context.Context) error {
	terminating := sc.selectObjects(func(o *object.Object) bool { return o.Terminating() && o.IsNamespace() })
	statuses, err := readWhole(ctx, sc, namespaces, terminating, object.NamespaceStatusOf)
	for i, o := range terminating {
		sc.own(o).NamespaceStatus = statuses[i]
	}
	return err
}

// readWhole requests objects of a type whole and returns what parse makes of each, nil if it cannot be
// read or was replaced. The error is the context's.
func readWhole[T any](ctx context.Context, sc *scanner, t snapshot.Type, objects []**object.Object, parse func(spec, status json.RawMessage) *T) ([]*T, error) {
	return client.InParallel(ctx, sc.client.Config.SmallConcurrency, objects, func(o **object.Object) *T {
		return remember(sc, stateOf(*o), func() (*T, bool) {
			var whole struct {
				Metadata     struct{ UID types.UID }
				Spec, Status json.RawMessage
			}
			err := client.GetWhole(ctx, sc.client, client.Query{Type: t, Namespace: (*o).Namespace, Name: (*o).Name}, &whole)
			if err != nil || whole.Metadata.UID != (*o).UID {
				return nil, true
			}
			return parse(whole.Spec, whole.Status), true
		})
	})
}

// selectObjects returns the places of the objects that were read and that matches accepts.
func (sc *scanner) selectObjects(matches func(*object.Object) bool) []**object.Object {
	var out []**object.Object
	add := func(o **object.Object) {
		if *o != nil && matches(*o) {
			out = append(out, o)
		}
	}
	objects := sc.objects.Objects()
	for i := range objects {
		add(&objects[i])
	}
	for i := range sc.lookups {
		add(&sc.lookups[i].Object)
	}
	return out
}

// own replaces an object that others share by a copy, and returns it.
func (sc *scanner) own(o **object.Object) *object.Object {
	if sc.lists != nil {
		*o = new(**o)
	}
	return *o
}
