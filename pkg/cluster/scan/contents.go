package scan

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Contents lists what the deletion of a Namespace or CustomResourceDefinition also deletes. Types
// are discovered again, since one may have been added after the scan. Types that could not be
// listed are gaps, see snapshot.View.ContentsGaps. Owners are not looked up.
func Contents(ctx context.Context, c *client.Client, of object.Identity) (*snapshot.Snapshot, error) {
	discovered, err := discovery.Discover(ctx, c)
	if err != nil {
		return nil, err
	}
	sc := newScan(c, discovered, Scope{})
	var queries []client.Query
	for _, t := range discovered.Types {
		switch {
		case !t.Monitored():
		case of.IsNamespace() && t.Namespaced:
			queries = append(queries, client.Query{Type: t, Namespace: of.Name})
		case of.IsCRD() && t.String() == of.Name:
			queries = append(queries, client.Query{Type: t})
		}
	}
	if err := sc.list(ctx, queries, false); err != nil {
		return nil, err
	}
	s := sc.snapshot()
	s.Taken = time.Now().UTC().Truncate(time.Second)
	s.Normalize()
	return s, nil
}
