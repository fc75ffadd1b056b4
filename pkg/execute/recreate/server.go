package recreate

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// APIServer is the part of an API server that a restoration needs. It is safe for concurrent
// use. A write in flight when its context ends is completed, within bounds. Errors of a
// known class are or wrap an execute.ClassifiedError; a restoration handles Exists,
// Invalid, Conflict and Gone.
type APIServer interface {
	execute.Patcher
	// Create creates an object and returns it. If an earlier restoration of the same
	// backup has created it, Create returns that object.
	Create(ctx context.Context, at object.Identity, body json.RawMessage) (*object.Object, error)
	// WaitForServed returns when the types, whose definition was just created, are served.
	WaitForServed(ctx context.Context, types []snapshot.Type) error
	// WaitForWatches returns when the watches of controllers can be expected to have seen
	// the objects that were created before the call.
	WaitForWatches(ctx context.Context) error
	// WaitForAdoption waits a short time for an object to get an owner with that UID, and
	// returns the object, or nil if it is gone.
	WaitForAdoption(ctx context.Context, at object.Identity, owner types.UID) (*object.Object, error)
}

// Recorder records what is created, so that an interrupted restoration can be continued.
// It is safe for concurrent use.
type Recorder interface {
	// RecordCreated records the UID of the object that was created for a backed up one. The
	// record is durable when RecordCreated returns.
	RecordCreated(of object.Identity, uid types.UID) error
}
