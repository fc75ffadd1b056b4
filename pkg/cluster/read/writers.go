package read

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// WritersOf requests the metadata of an object and returns who wrote its owner references and
// finalizers. Another object of that name is an error.
func WritersOf(ctx context.Context, c *client.Client, t snapshot.Type, id object.Identity) (object.Writers, error) {
	found, err := c.GetObject(ctx, client.Query{Type: t, Namespace: id.Namespace, Name: id.Name})
	switch {
	case err != nil:
		return object.Writers{}, fmt.Errorf("read the managedFields of %s: %w", id, err)
	case found.UID != id.UID:
		return object.Writers{}, fmt.Errorf("read the managedFields of %s: it has UID %s now, and had %s", id, found.UID, id.UID)
	}
	return object.WritersOf(found.ManagedFields), nil
}
