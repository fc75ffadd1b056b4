package oracle

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	stuck "github.com/kubectl-gc/kubectl-gc/pkg/terminating"
	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// PredictAudit returns what `audit` says about the end of a scenario without deletions. A
// consequence is what the collector does with the object because of one reference, in the
// state that was read:
//
//   - delete: the object is deleted or terminating.
//   - unlink: the reference is gone. What happens to the object later is not predicted.
//   - none, of a solid reference: the reference stays, unless its owner is deleted.
//   - none, of a deletion that waits for another controller's finalizer: it does not end. The
//     finalizer of a CustomResourceDefinition does not count, as the API server removes it.
//   - stuck: the object and the reference stay. A deletion that never completes does not end.
//   - unknown: nothing is predicted.
//
// In addition, no object is deleted that has no finding with delete, except for what others
// explain: an owner or container that is deleted. Contents of a container that is deleted are
// left out everywhere, and so are objects of unmonitored types without findings. A finding that
// is nondeterministic has that reserve.
func PredictAudit(s scenario.Scenario) []Prediction {
	report, err := audit.Run(collector.NewJudge(graph.New(Scan(s))), audit.Filter{StuckAfter: stuck.DefaultStuckAfter})
	if err != nil {
		panic(err) // only for unknown rules
	}
	a := &auditPredictions{
		scenario: s, objects: byUID(s.Objects),
		deleted: map[types.UID]bool{}, unknown: map[types.UID]bool{}, unlinked: map[[2]types.UID]bool{},
	}
	for i := range report.Findings {
		f := &report.Findings[i]
		switch f.Consequence {
		case collector.ConsequenceDelete:
			a.deleted[f.Object.UID] = true
		case collector.ConsequenceUnknown:
			a.unknown[f.Object.UID] = true
		case collector.ConsequenceUnlink:
			a.unlinked[[2]types.UID{f.Object.UID, f.Reference.UID}] = true
		case collector.ConsequenceNone, collector.ConsequenceStuck:
		}
	}
	for i := range report.Findings {
		a.finding(&report.Findings[i])
	}
	for i := range s.Objects {
		if o := &s.Objects[i]; o.DeletionTimestamp == nil && !a.deleted[o.UID] && !a.unknown[o.UID] && monitored(typeOf(s.Types, o)) {
			a.add("no deletion", o.UID, "no finding has consequence delete", func(e End) bool { return !e.Deleted(o.UID) || a.explained(e, o) })
		}
	}
	return a.out
}

// auditPredictions collects the predictions of one report.
type auditPredictions struct {
	scenario scenario.Scenario
	objects  map[types.UID]*scenario.Object // before
	deleted  map[types.UID]bool             // with a finding that says delete
	unknown  map[types.UID]bool             // with a finding that says unknown
	unlinked map[[2]types.UID]bool          // object and owner of a finding that says unlink
	out      []Prediction
}

func (a *auditPredictions) add(aspect string, uid types.UID, said string, holds func(End) bool) {
	a.out = append(a.out, Prediction{
		Command: "audit", Aspect: aspect, Object: uid, Said: said, None: Wrong, Some: FalselyCertain, Holds: holds,
		Describe: func(e End) string { return describe(e.Object(uid)) },
	})
}

// describe returns the state and the references of an object.
func describe(o *scenario.Object) string {
	if o == nil {
		return gone
	}
	return stateOf(o) + ", " + ownersOf(o)
}

// explained reports whether an object's deletion follows from that of others.
func (a *auditPredictions) explained(e End, o *scenario.Object) bool {
	first := map[types.UID]bool{}
	for uid := range a.deleted {
		first[uid] = true
	}
	for uid := range a.unknown {
		first[uid] = true
	}
	return explained(a.scenario, e, first)[o.UID]
}

// finding adds what one finding predicts.
func (a *auditPredictions) finding(f *audit.Finding) {
	if f.Reference == nil {
		a.groupFinding(f)
		return
	}
	o := a.objects[f.Object.UID]
	aspect, said := f.Rule+":"+string(f.Reference.UID), string(f.Consequence)+" because of "+f.Reference.Kind+"/"+f.Reference.Name
	if f.Nondeterministic != nil {
		a.add(aspect, o.UID, said+", perhaps", func(e End) bool { return e.Deleted(o.UID) || !hasReference(e.Object(o.UID), f.Reference) })
		a.out[len(a.out)-1].Reserve = Nondeterministic
		return
	}
	outside := func(holds func(End) bool) func(End) bool {
		return func(e End) bool { return holds(e) || withContainer(a.scenario, e, o) }
	}
	switch f.Consequence {
	case collector.ConsequenceDelete:
		a.add(aspect, o.UID, said, func(e End) bool { return e.Deleted(o.UID) })
	case collector.ConsequenceUnlink:
		a.add(aspect, o.UID, said, outside(func(e End) bool { return e.Deleted(o.UID) || !hasReference(e.Object(o.UID), f.Reference) }))
	case collector.ConsequenceNone:
		if o.DeletionTimestamp == nil && !a.unlinked[[2]types.UID{o.UID, f.Reference.UID}] { // references are removed by UID
			a.add(aspect, o.UID, said, outside(func(e End) bool {
				return e.Deleted(o.UID) || e.Deleted(f.Reference.UID) || hasReference(e.Object(o.UID), f.Reference)
			}))
		}
	case collector.ConsequenceStuck:
		a.stuck(f, aspect, said, outside)
	case collector.ConsequenceUnknown:
	}
}

// stuck adds what a finding about a reference predicts that the collector cannot act on.
func (a *auditPredictions) stuck(f *audit.Finding, aspect, said string, outside func(func(End) bool) func(End) bool) {
	o := a.objects[f.Object.UID]
	switch f.Effect.Code {
	case "NeverCompletes": // a foreground deletion waits for itself
		a.add(aspect, o.UID, said, outside(func(e End) bool { return e.Object(o.UID) != nil }))
	case "NeverCollected": // it owns itself, so it is deleted only with others
		a.add(aspect, o.UID, said, func(e End) bool { return !e.Deleted(o.UID) || a.explained(e, o) })
	case "CannotDecide":
		a.add(aspect, o.UID, said, outside(func(e End) bool {
			if a.orphaned(o) {
				return true
			}
			return !e.Deleted(o.UID) && hasReference(e.Object(o.UID), f.Reference)
		}))
	default: // the API server refuses the update, until the object has no owner left
		a.add(aspect, o.UID, said, func(e End) bool {
			return stateOf(e.Object(o.UID)) == alive && ownersOf(e.Object(o.UID)) == ownersOf(o) || a.explained(e, o)
		})
	}
}

// groupFinding adds what a finding about a cycle or a deletion predicts.
func (a *auditPredictions) groupFinding(f *audit.Finding) {
	members := f.Members
	if f.Rule != "owner-cycle" {
		members = []object.Identity{f.Object}
	}
	for _, m := range members {
		o := a.objects[m.UID]
		if o == nil {
			continue
		}
		aspect, said := f.Rule, string(f.Consequence)
		if f.Nondeterministic != nil {
			a.add(aspect, o.UID, said+", perhaps", func(e End) bool { return e.Object(o.UID) != nil })
			a.out[len(a.out)-1].Reserve = Nondeterministic
			continue
		}
		exists := func(e End) bool { return e.Object(o.UID) != nil || withContainer(a.scenario, e, o) }
		switch f.Effect.Code {
		case "NeverCollected":
			a.add(aspect, o.UID, said, func(e End) bool { return !e.Deleted(o.UID) || a.explained(e, o) })
		case "NeverCompletes":
			a.add(aspect, o.UID, said, exists)
		case "Waits":
			if f.Effect.Equal(reason.Of(reason.Waits{Forever: true})) || f.Effect.Equal(reason.Of(reason.Waits{})) && waitsForFinalizer(f.Blocker) {
				a.add(aspect, o.UID, said, exists)
			}
		default:
			if f.Rule == "stuck-finalizer" && slices.ContainsFunc(o.Finalizers, isNeverRemoved) {
				a.add(aspect, o.UID, said, exists)
			}
		}
	}
}

// isNeverRemoved reports whether no component of a scenario's cluster removes a finalizer.
func isNeverRemoved(finalizer string) bool {
	return finalizer != foregroundFinalizer && finalizer != orphanFinalizer && finalizer != cleanupFinalizer
}

// waitsForFinalizer reports whether a deletion is blocked by another controller's finalizer in
// the end. Everything else that may block one goes by itself.
func waitsForFinalizer(found *reason.Reason) bool {
	switch found := found.Parameters.(type) {
	case reason.BlockedByDependents:
		return waitsForFinalizer(found.Because)
	case reason.HeldByFinalizers:
		return slices.ContainsFunc(found.Finalizers, isNeverRemoved)
	}
	return false
}

// orphaned reports whether an owner of an object, by UID, orphans its dependents: then the
// object loses references whatever they are.
func (a *auditPredictions) orphaned(o *scenario.Object) bool {
	for _, r := range o.OwnerReferences {
		if owner := a.objects[r.UID]; owner != nil && slices.Contains(owner.Finalizers, orphanFinalizer) {
			return true
		}
	}
	return false
}

// hasReference reports whether an object still has a reference, whatever its flags are.
func hasReference(o *scenario.Object, want *object.Reference) bool {
	if o == nil {
		return false
	}
	for _, r := range o.OwnerReferences {
		if r.APIVersion == want.APIVersion && r.Kind == want.Kind && r.Name == want.Name && r.UID == want.UID {
			return true
		}
	}
	return false
}
