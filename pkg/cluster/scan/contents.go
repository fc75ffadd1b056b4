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
	l := newScan(c, discovered, Scope{})
	var jobs []client.Query
	for _, t := range discovered.Types {
		switch {
		case !t.Monitored():
		case of.IsNamespace() && t.Namespaced:
			jobs = append(jobs, client.Query{Type: t, Namespace: of.Name})
		case of.IsDefinition() && t.String() == of.Name:
			jobs = append(jobs, client.Query{Type: t})
		}
	}
	if err := l.list(ctx, jobs, false); err != nil {
		return nil, err
	}
	s := l.snapshot()
	s.Taken = time.Now().UTC().Truncate(time.Second)
	s.Sort()
	return s, nil
}
