package execute

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Server is what a run needs of an API server. It is safe for concurrent use. A write
// that is under way when its context ends is seen to its end, within bounds. An
// error whose cause is known is or wraps a Refusal; Conflict and Gone are told apart by it.
type Server interface {
	// Delete asks for the deletion of the very object it is given, bound to its
	// UID and resourceVersion, and answers what is left of it: nil when it is gone.
	Delete(ctx context.Context, o *object.Object, policy metav1.DeletionPropagation) (*object.Object, error)
	// Patch makes the change on the very object it is given, bound to its UID and
	// resourceVersion, and answers what is left of it: nil when that let it go. An
	// empty change is sent all the same, as only its answer is of interest.
	Patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error)
	// Read answers an object as it is now, or nil where it is proven to be gone or
	// replaced by another of its name.
	Read(ctx context.Context, at object.Identity) (*object.Object, error)
	// Verify reads an object and everything that its references lead to, as a
	// snapshot that lists this object alone. It lists none where the object is
	// proven to be gone or replaced.
	Verify(ctx context.Context, at object.Identity) (*snapshot.Snapshot, error)
	// Relist lists everything anew: who depends on whom.
	Relist(ctx context.Context) (*snapshot.Snapshot, error)
	// Contents lists anew what the deletion of a Namespace or CustomResourceDefinition
	// takes along, by types that were discovered anew. What could not be listed is a gap.
	Contents(ctx context.Context, of object.Identity) (*snapshot.Snapshot, error)
	// WaitForGone returns when the object is gone or replaced, or the context ends. As
	// many may be waited for at once as a plan deletes; it may take for ever.
	WaitForGone(ctx context.Context, at object.Identity) error
}

// Refusal is an error whose cause is known.
type Refusal interface {
	error
	Refusal() snapshot.ErrorClass
}

// BackupWriter saves whole objects before they are deleted or mended. It is called once at a
// time, and again for an object that changed since it was saved.
type BackupWriter interface {
	// Write answers for each object what was saved of it. When it returns, that is
	// on the disk. The error says that nothing can be saved at all.
	Write(ctx context.Context, objects []object.Identity) ([]Written, error)
}

// Written is one object that was to be saved.
type Written struct {
	Object *object.Object // as it was saved; nil: not saved
	Err    error          // why it was not; nil where it is gone or was replaced
}
