package restore

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// Backup is what a run left behind.
type Backup struct {
	Saved []Saved    // one per UID, in the order of the identities
	Plan  *plan.Plan // of the run; nil where none was saved
	Ended []Ended    // how steps of that plan ended; there may be none of some
	// Made are the objects that earlier restorations of this backup made, by the
	// UID that each had before. What is not there under that UID does not count.
	Made map[types.UID]types.UID
	// Manifest reads one of those that were saved. It is called twice for what is
	// made, and must answer the same.
	Manifest func(Saved) (json.RawMessage, error)
}

// Saved is an object of which the manifest is in the backup.
type Saved struct {
	Object          object.Identity // as it was
	ResourceVersion string
	SHA256          string // of the manifest
}

// Ended is how a step of the run ended.
type Ended struct {
	Step   string
	Object types.UID
	Action string
	Status event.Status
}

// Options say how a backup is restored.
type Options struct {
	// Exact puts every reference back as it was, even where the collector would
	// delete the object for it.
	Exact bool
	// Only limits what is made and linked; nil: everything.
	Only func(object.Identity) bool
}
