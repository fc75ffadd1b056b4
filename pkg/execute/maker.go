package execute

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Creator is what a restoration needs of an API server. It is safe for concurrent
// use. Its errors are like those of a Server; Exists is told apart, too.
type Creator interface {
	// Create makes an object of that kind, place and name, and answers it as it is
	// then. Where this very backup was restored before, and made the object, it
	// answers that one.
	Create(ctx context.Context, at object.Identity, body json.RawMessage) (*object.Object, error)
	// Patch and Read are those of a Server.
	Patch(ctx context.Context, o *object.Object, c object.Change) (*object.Object, error)
	Read(ctx context.Context, at object.Identity) (*object.Object, error)
	// ServedType returns when the types are served, whose definition was just made.
	ServedType(ctx context.Context, types []snapshot.Type) error
	// VerifyCreated returns when what was made before the call may be taken for seen by
	// all who watch it.
	VerifyCreated(ctx context.Context) error
	// Adopted waits, but not long, for an object to get an owner of that UID, and
	// answers the object as it is then, or nil where it is gone.
	Adopted(ctx context.Context, at object.Identity, owner types.UID) (*object.Object, error)
}

// Recorder is told what is made, so that a restoration which is cut off can be
// continued. It is safe for concurrent use.
type Recorder interface {
	// Made notes the UID of what was made of an object. When it returns, the note
	// outlives this process.
	Made(of object.Identity, uid types.UID) error
}
