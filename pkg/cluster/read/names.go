package read

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const namesLimit = 500

// Names returns the names on the first page of a list, in one namespace or, if that is empty, in
// all.
func Names(ctx context.Context, c *client.Client, t snapshot.Type, namespace string) ([]string, error) {
	objects, err := c.FirstPage(ctx, client.Query{Type: t, Namespace: namespace}, namesLimit)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.Name
	}
	return names, nil
}
