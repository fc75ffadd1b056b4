package read

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Marks are what others left on an object, and a scan does not keep, as it is large.
type Marks struct {
	Writers object.Writers    // by its managedFields
	Manager *reason.ManagedBy // by its labels and annotations; nil: none is known
}

// MarksOf returns the marks of an object: those of a file if c is nil, or else those that the API server
// sends now. What it cannot read, or reads of a newer object of that name, is left out: nothing depends
// on marks.
func MarksOf(ctx context.Context, c *client.Client, s *snapshot.Snapshot, view *snapshot.View, o *object.Object) (out Marks) {
	by, managed := s.ManagerOf(o)
	if c != nil {
		now, err := metadata(ctx, c, view, o.Identity)
		if err != nil {
			return out
		}
		out.Writers = object.WritersOf(now.ManagedFields)
		by, managed = reason.ManagerOf(o, now.Labels, now.Annotations)
	}
	if managed {
		out.Manager = &by
	}
	return out
}

// metadata requests the metadata of an object. Another object of that name is an error.
func metadata(ctx context.Context, c *client.Client, view *snapshot.View, id object.Identity) (*metav1.PartialObjectMetadata, error) {
	q, err := client.QueryOf(view, id)
	if err != nil {
		return nil, err
	}
	found, err := c.GetObject(ctx, q)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the metadata of %s: %w", id, err)
	case found.UID != id.UID:
		return nil, fmt.Errorf("read the metadata of %s: it has UID %s now, and had %s", id, found.UID, id.UID)
	}
	return found, nil
}
