package planrun

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Server is the part of an API server that a run needs. It is safe for concurrent use. A
// write in flight when its context ends is completed, within bounds. Errors of a known
// class are or wrap an execute.ClassifiedError; a run handles Conflict and Gone.
type Server interface {
	execute.Patcher
	// Delete deletes o, with its UID and resourceVersion as preconditions, and with this
	// grace period in seconds; nil is the object's own. It returns what is left of the
	// object: nil if it is gone.
	Delete(ctx context.Context, o *object.Object, policy metav1.DeletionPropagation, grace *int64) (*object.Object, error)
	// Verify reads an object and everything that its references name. The snapshot
	// lists this object alone, or none if it is proven to be gone or replaced.
	Verify(ctx context.Context, at object.Identity) (*snapshot.Snapshot, error)
	// Relist lists every object again.
	Relist(ctx context.Context) (*snapshot.Snapshot, error)
	// Contents discovers the types again and lists what the deletion of a Namespace or
	// CustomResourceDefinition deletes too. What could not be listed is a gap.
	Contents(ctx context.Context, of object.Identity) (*snapshot.Snapshot, error)
	// WaitForGone returns when the object is gone or replaced, or the context ends,
	// which may take forever. It must support as many calls at once as a plan has
	// deletions.
	WaitForGone(ctx context.Context, at object.Identity) error
}

// BackupWriter backs up objects before they are deleted or repaired. Calls do not
// overlap; an object that has changed is written again.
type BackupWriter interface {
	// Write returns the objects as it saved them, which are on disk then, and why it failed to save
	// others. An object in neither is gone or was replaced. An error means that nothing can be backed up.
	Write(ctx context.Context, objects []object.Identity) (saved map[types.UID]*object.Object, failed map[types.UID]error, err error)
}

// Watcher watches objects.
type Watcher interface {
	// Watch calls observe with the current state of every object, and again after
	// every change, until the context ends; nil means gone or replaced. It makes one
	// call at a time.
	Watch(ctx context.Context, objects []object.Identity, observe func(types.UID, *object.Object))
}
