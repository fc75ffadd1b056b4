package restore

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Restoration is a plan with all that is needed to carry it out.
type Restoration struct {
	Plan *plan.Plan
	// Types are those of CustomResourceDefinitions that are made: nobody serves
	// them yet.
	Types []snapshot.Type
	// Before is how many of the objects an earlier restoration has made.
	Before int

	works        []Work
	read         func(Saved) (json.RawMessage, error)
	surroundings *surroundings
}

// New foretells what becomes of a backup, by what is there now. It costs time
// linear in objects and references, sorting aside, and holds no manifest.
func New(b Backup, seen *snapshot.Snapshot, o Options) *Restoration {
	m := &maker{
		backup: b, seen: seen, options: o, live: index(seen), of: map[types.UID]*subject{}, namespaces: map[string]bool{},
	}
	m.surroundings = surroundingsOf(m.live, seen)
	m.choose()
	m.survive()
	m.resolve()
	r := &Restoration{Types: m.types, Before: len(m.before), read: b.Manifest, surroundings: m.surroundings}
	order, after := m.order()
	p := &plan.Plan{
		Mode: plan.Restore, Complete: seen.Complete(), Gaps: append([]snapshot.Gap{}, seen.Gaps...),
		Outcomes: []plan.Outcome{}, Blocked: []plan.Blocked{},
	}
	p.Steps, r.works = m.steps(order, after)
	p.Kept, p.Lost = m.kept, m.lost(order)
	slices.SortStableFunc(p.Kept, func(x, y plan.Kept) int { return x.Object.Compare(y.Object) })
	p.Finalize()
	r.Plan = p
	return r
}

// maker makes one Restoration.
type maker struct {
	backup       Backup
	seen         *snapshot.Snapshot
	options      Options
	live         *live
	types        []snapshot.Type // of what is defined anew
	surroundings *surroundings

	making     []*subject // what is made, in the order of the identities
	before     []*subject // what an earlier restoration has made
	of         map[types.UID]*subject
	namespaces map[string]bool // those that are made
	bearers    []*referenceHolder
	kept       []plan.Kept
}

// subject is an object of the backup that is made, or was.
type subject struct {
	saved  Saved
	kind   kind
	owners []object.Reference
	needs  []need
	lost   []reason.Reason
	types  []snapshot.Type // of a CustomResourceDefinition
	// uid is that under which it is known to others: its old one until it is made.
	uid    types.UID
	now    *object.Object // as it is, where it was made before
	bearer *referenceHolder
	at     int // its place in the order of what is made
}

func (s *subject) made() bool { return s.now != nil }
