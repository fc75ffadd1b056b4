package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Mode is what a plan is for.
type Mode string

// The modes.
const (
	Collect Mode = "collect" // a pass of the collector over everything that is there
	Delete  Mode = "delete"  // what is asked to be deleted, and what comes of that
	Repair  Mode = "repair"  // references that lead to no owner are mended
	Restore Mode = "restore" // what a run deleted is made again
)

// The actions of a repair, besides the collector's own unlink.
const (
	Relink        = collector.Action(repair.Relink)
	UpdateVersion = collector.Action(repair.UpdateVersion)
)

// What a restoration does to an object, besides the collector's acts.
const (
	Create collector.Action = "create" // an object is made that has the manifest of one that is gone
	Link   collector.Action = "link"   // references are added, in the place of some that lead nowhere
)

// Plan is everything that a run will do. Lists are empty, not nil.
type Plan struct {
	Mode     Mode
	Complete bool
	Gaps     []snapshot.Gap
	Summary  Summary
	// AcceptedGaps are the words of those gaps that a person accepted.
	AcceptedGaps snapshot.AcceptedGaps

	Digest string // of what is shown, and so of what is confirmed
	// ClusterUID is the UID of Namespace kube-system where a saved plan was made; empty
	// where that is unknown, and in a plan that is not saved to a file. The digest leaves
	// it out: each step is bound to the UID of its object.
	ClusterUID string

	Steps    []Step    // in an order in which they may be done
	Outcomes []Outcome // in the order of their objects
	Blocked  []Blocked // in the order of their objects
	// Of Delete alone, and nil where there are none; in the order of their objects.
	Retained     []Retained
	DeletedLater []DeletedLater
	// Of Restore alone: what is left alone, in the order of the objects, and what
	// does not come back with what is made.
	Kept []Kept
	Lost []Lost
}

// Summary counts the steps by their action, and the blocked objects.
type Summary struct {
	Delete          int `json:"delete"`
	Unlink          int `json:"unlink"`
	Unblock         int `json:"unblock"`
	RemoveFinalizer int `json:"removeFinalizer"`
	Relink          int `json:"relink,omitempty"`
	UpdateVersion   int `json:"updateVersion,omitempty"`
	Blocked         int `json:"blocked"`
	Create          int `json:"create,omitempty"`
	Link            int `json:"link,omitempty"`
	Kept            int `json:"kept,omitempty"`
}

// Object is an object in the state that a step rests on.
type Object struct {
	object.Identity `json:",inline"`
	ResourceVersion string `json:"resourceVersion"`
}

// Step is one write.
type Step struct {
	ID                string           `json:"id"` // within the plan
	Pass              int              `json:"pass"`
	Requested         bool             `json:"requested,omitempty"` // somebody asked for it; all else follows from such
	Action            collector.Action `json:"action"`              // delete, unlink, unblock or remove-finalizer; of a repair: relink, update-version or unlink
	Object            Object           `json:"object"`
	PropagationPolicy string           `json:"propagationPolicy"` // of delete, else empty
	OwnerUIDs         []string         `json:"ownerUIDs"`         // of References, once each
	Finalizer         string           `json:"finalizer"`         // of remove-finalizer, else empty
	Reason            reason.Reason    `json:"-"`                 // why it is taken
	After             []string         `json:"after"`             // ids of the steps that must be over before
	References        []Reference      `json:"references"`        // on which it rests: those that go or change, or all of an object that is deleted
	// AcceptedGaps are the words without which the step would not be, as what it rests on
	// was not all seen.
	AcceptedGaps snapshot.AcceptedGaps `json:"acceptedGaps,omitempty"`

	Follows         string `json:"follows"` // id of the step without which it would not be, or empty
	WaitsForKubelet bool   `json:"waitsForKubelet,omitempty"`
	Manifest        string `json:"manifest,omitempty"` // of create: the sha256 of what is made, as it was saved

	// Move is what the model made of it; nil in a plan that was read from a file.
	Move *simulate.Transition `json:"-"`
	// Mends are what mends each of References, in a repair; nil like Move.
	Mends []repair.Repair `json:"-"`
}

// Reference is an owner reference with what was found of it.
type Reference struct {
	audit.Reference
	Verdict collector.Verdict `json:"verdict"`
	reason.Found
	Becomes *audit.Reference `json:"becomes,omitempty"` // what a repair makes of it; nil where it goes
}

// State is what a run leaves of an object. The words are part of the JSON
// contract.
type State string

// The states.
const (
	Deleted     State = "deleted"
	Terminating State = "terminating"
	Changed     State = "changed"
)

// Outcome is what becomes of an object by the end of the whole cascade.
type Outcome struct {
	Object   object.Identity `json:"object"`
	State    State           `json:"state"`
	WaitsFor []string        `json:"waitsFor"` // of a terminating one: the finalizers it is left with, or what else it waits for
	// Follows is the id of the step that takes the object along, since it deletes
	// the object's namespace or CustomResourceDefinition, or the Service of these
	// Endpoints; empty for all others.
	Follows string `json:"follows,omitempty"`
	// Nondeterministic is why the outcome may be another one; its Reason is nil where it
	// may not.
	Nondeterministic reason.Nested `json:"nondeterministic,omitzero"`
	// WithoutRepair is what the collector would do with an object that a repair changes,
	// if it were not repaired; empty in all other plans.
	WithoutRepair collector.Consequence `json:"withoutRepair,omitempty"`
}

// Owner returns the owner that the reference names, with what was found of it.
func (r Reference) Owner() reason.Owner {
	return reason.Owner{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID), Found: r.Found}
}

// Losses counts the objects that go: those that a step deletes, those that are
// taken along, and those whose deletion was under way and comes to its end by what
// is asked for.
func (p *Plan) Losses() int {
	n := p.Summary.Delete
	own := map[string]bool{}
	for _, s := range p.Steps {
		if s.Action == collector.ActionDelete {
			own[string(s.Object.UID)] = true
		}
	}
	for _, o := range p.Outcomes {
		if (o.Follows != "" || p.Mode == Delete && o.State != Changed) && !own[string(o.Object.UID)] {
			n++
		}
	}
	return n
}

// Blocked is a deletion that does not come to its end, or an object that would
// go if a reference could be judged; of a repair, an object that is not mended, or
// not enough to be kept.
type Blocked struct {
	Object object.Identity   `json:"object"`
	By     []object.Identity `json:"by"` // the dependents that block it; empty where there are none
	Reason reason.Reason     `json:"-"`
}

// Kept is an object that a restoration leaves alone.
type Kept struct {
	Object object.Identity `json:"object"`
	Reason reason.Reason   `json:"-"`
}

// Lost is what does not come back, and of which objects; none: of all.
type Lost struct {
	Reason  reason.Reason     `json:"-"`
	Objects []object.Identity `json:"objects,omitempty"`
}
