package restore

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/event"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Restoration is a plan with everything needed to execute it.
type Restoration struct {
	Plan *plan.Plan
	// Types are defined by CustomResourceDefinitions that are created: the API
	// server does not serve them yet.
	Types []snapshot.Type
	// AlreadyCreated is the number of objects that an earlier restoration created.
	AlreadyCreated int

	backup  SavedRun
	saved   map[types.UID]event.Saved // the objects to create
	volumes *volumeContext
}

// New plans the restoration of a backup into the scanned cluster. It takes time
// linear in objects and references, apart from sorting, and keeps no manifest in
// memory.
func New(b SavedRun, seen *snapshot.Snapshot, o Options) *Restoration {
	p := &planner{
		backup: b, seen: seen, options: o, live: newLiveIndex(seen),
		byUID: map[types.UID]*recreation{}, namespaces: map[string]bool{},
	}
	p.volumes = &volumeContext{live: p.live, recreated: map[string]bool{}}
	p.readRun()
	p.selectObjects()
	p.findReferences()
	p.resolveReferences()
	order, after := p.creationOrder()
	slices.SortStableFunc(p.kept, func(a, b plan.Kept) int { return a.Object.Compare(b.Object) })
	out := &plan.Plan{
		Mode: plan.Restore, Complete: seen.Complete(), Gaps: append([]snapshot.Gap{}, seen.Gaps...),
		Steps: p.steps(order, after), Kept: p.kept, Lost: p.lost(order),
		Outcomes: []plan.Outcome{}, Blocked: []plan.Blocked{},
	}
	saved := make(map[types.UID]event.Saved, len(p.toCreate))
	for _, c := range p.toCreate {
		saved[c.saved.Object.UID] = c.saved
	}
	return &Restoration{Plan: out, Types: p.newTypes, AlreadyCreated: len(p.alreadyCreated), backup: b, saved: saved, volumes: p.volumes}
}

// Body returns the request body that creates the object of a step: the
// saved manifest without what the API server sets and what belonged to the deleted
// object, and with exactly these owner references.
func (r *Restoration) Body(step *plan.Step, refs []object.Reference) (json.RawMessage, error) {
	m, err := r.backup.parse(r.saved[step.Object.UID])
	if err != nil {
		return nil, err
	}
	clean(m, kindOf(step.Object.Identity), r.volumes)
	if len(refs) == 0 {
		m.drop("metadata", "ownerReferences")
	} else {
		m.set(refs, "metadata", "ownerReferences") // encoded as in the API
	}
	return json.Marshal(m)
}

// planner plans one Restoration.
type planner struct {
	backup   SavedRun
	seen     *snapshot.Snapshot
	options  Options
	live     *liveIndex
	newTypes []snapshot.Type // defined by CustomResourceDefinitions that are created
	volumes  *volumeContext

	// Of the run.
	repaired   map[types.UID]bool // the objects that it repaired
	released   map[types.UID]bool // those that lost a finalizer by request, which completed their deletion
	notDeleted map[types.UID]bool // those that it planned to delete but skipped
	undone     map[string]bool    // the steps that failed or were skipped, by ID

	toCreate       []*recreation // sorted by identity
	alreadyCreated []*recreation // by an earlier restoration
	byUID          map[types.UID]*recreation
	namespaces     map[string]bool // those that are created
	holders        []*referenceHolder
	kept           []plan.Kept
}

// recreation is an object of the backup that is to be created, or that an earlier
// restoration created.
type recreation struct {
	saved         event.Saved
	kind          kindRules
	owners        []object.Reference
	prerequisites []prerequisite
	lost          []*reason.Reason
	types         []snapshot.Type // of a CustomResourceDefinition
	grants        bool            // see plan.Creation
	live          *object.Object  // nil until it was created
	holder        *referenceHolder
	position      int // in the creation order
}

// pending reports whether this is an object of the backup that is yet to be created.
func (c *recreation) pending() bool { return c != nil && c.live == nil }

// uid returns the UID that references to the object carry in the plan: that of the
// deleted object until it is recreated.
func (c *recreation) uid() types.UID {
	if c.live != nil {
		return c.live.UID
	}
	return c.saved.Object.UID
}
