package execute

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// relocatedOwners adds to what was read of an object the owners that are served in another
// group than its references say, such as the Deployments of extensions/v1beta1: by
// what the reference says they cannot be asked for, but the look has seen them.
func (r *run) relocatedOwners(ctx context.Context, s *snapshot.Snapshot) error {
	view := snapshot.NewView(s)
	for _, o := range s.Objects {
		for _, of := range o.Owners {
			_, mapped := view.Map(of.APIVersion, of.Kind)
			_, versioned := view.WithServedVersion(of)
			known := r.graph.Object(r.graph.Find(of.UID))
			if mapped || versioned || known == nil {
				continue
			}
			now, err := r.server.Read(ctx, known.Identity)
			if err != nil {
				return err
			}
			if now != nil {
				s.Lookups = append(s.Lookups, snapshot.Lookup{Coordinates: placeOf(known.Identity), Outcome: snapshot.Found, Object: now})
			}
		}
	}
	slices.SortFunc(s.Lookups, func(a, b snapshot.Lookup) int { return a.Compare(b.Coordinates) })
	return nil
}

func placeOf(i object.Identity) snapshot.Coordinates {
	return snapshot.Coordinates{APIVersion: i.APIVersion, Kind: i.Kind, Namespace: i.Namespace, Name: i.Name}
}
