package repair

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Fix is what a repair does with a reference. The words are part of the JSON contract.
type Fix string

// The fixes.
const (
	Unlink        Fix = "unlink"         // drop the reference
	Relink        Fix = "relink"         // point it at the owner's successor of the same name
	UpdateVersion Fix = "update-version" // rewrite its apiVersion to a served one, or to the preferred one
	None          Fix = "none"
)

// Repair is how one reference is repaired.
type Repair struct {
	Fix Fix
	// Becomes is the reference after Relink and UpdateVersion; else the zero value. Its UID is
	// that of an object that was read.
	Becomes object.Reference
	// NeedsDecision reports that the owner can never be resolved, but cannot be proven absent either:
	// a person has to decide about each such reference.
	NeedsDecision bool
	// Optional reports that the reference is solid, so that nothing requires the repair.
	Optional bool
	// UserSelected reports that a person selected this reference: it is removed even if it is solid.
	// A Planner never sets it.
	UserSelected bool
	// Found explains None, or Unlink where another fix would be expected. Its state is empty
	// where the judgement's cause explains the fix.
	Found reason.Found
}

// Limited returns the fix that is made if only this one may be made; empty: the one that fits,
// unless a person has to decide. Unlink also removes references that could be relinked, since the
// old owner is just as absent.
func (r Repair) Limited(only Fix) Fix {
	switch {
	case only == "" && r.NeedsDecision:
		return None
	case only == "", only == r.Fix:
		return r.Fix
	case only == Unlink && r.Fix == Relink:
		return Unlink
	}
	return None
}

// Same reports whether two repairs do the same.
func (r Repair) Same(o Repair) bool {
	return r.Fix == o.Fix && r.NeedsDecision == o.NeedsDecision && r.Becomes.SameOwner(o.Becomes)
}

// input is what the repair of one reference depends on.
type input struct {
	judge      *collector.Judge
	node       graph.Node
	object     *object.Object // the node's
	reference  object.Reference
	judgement  collector.Judgement
	owners     map[types.UID]bool // of other references of the object that are solid, or rewritten so
	unverified map[types.UID]bool // of other references whose owner could not be verified
	// closesCycle reports whether the object would own itself, directly or through others, with
	// that owner.
	closesCycle func(*object.Object) bool
}

func (in *input) decide() Repair {
	j := in.judgement
	switch {
	case j.Verdict == collector.VerdictSolid:
		return in.preferVersion()
	case in.object.Contested:
		return none(reason.StateDependentContested)
	case in.object.Terminating():
		return none(reason.StateDependentTerminating)
	case j.Cause == collector.CauseUnverified:
		return none(reason.StateUnverified)
	case j.NamesListKind():
		return Repair{Fix: Unlink, NeedsDecision: true, Found: reason.Found{State: reason.StateKindIsList}}
	}
	switch j.Cause {
	case collector.CauseTerminating:
		return none(reason.StateWaiting)
	case collector.CauseUnknownKind:
		return Repair{Fix: Unlink, NeedsDecision: true, Found: reason.Found{State: reason.StateKindUnknown}}
	case collector.CauseUnservedVersion:
		return in.updateVersion()
	case collector.CauseReplaced:
		return in.rewriteTo(Relink, j.NameHolder, in.reference)
	case collector.CauseClusterToNamespaced, collector.CauseCrossNamespace, collector.CauseMismatched, collector.CauseMissing:
		return Repair{Fix: Unlink}
	case collector.CauseNone, collector.CauseUnverified:
	}
	return none(reason.StateUnverified)
}

// preferVersion rewrites a solid reference to the version that is preferred, if it names another
// one that is served.
func (in *input) preferVersion() Repair {
	if !in.judgement.NamesOutdatedVersion() || in.object.Contested || in.object.Terminating() {
		return none(reason.StateExists)
	}
	r, t := in.reference, in.judgement.Mapping.Type
	r.APIVersion = in.judge.Graph().View().Versions(t.Group, t.Kind)[0].APIVersion()
	if in.judge.Hypothetical(in.node, r).Verdict != collector.VerdictSolid {
		return none(reason.StateExists)
	}
	return Repair{Fix: UpdateVersion, Becomes: r, Optional: true}
}

// updateVersion repairs a reference whose version is not served. If the UID belongs to an
// object elsewhere or of another kind, a served version would make the reference dangle and
// the object garbage.
func (in *input) updateVersion() Repair {
	r, holder := in.reference, in.judgement.UIDHolder
	if holder != nil && (holder.Kind != r.Kind || holder.Name != r.Name ||
		holder.Namespace != "" && holder.Namespace != in.object.Namespace) {
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateMismatched, UIDHolder: &holder.Identity}}
	}
	r.APIVersion = in.judgement.Served[0]
	j := in.judge.Hypothetical(in.node, r)
	switch {
	case j.Verdict == collector.VerdictSolid:
		return in.rewriteTo(UpdateVersion, j.UIDHolder, r)
	case j.Verdict == collector.VerdictWaiting:
		return none(reason.StateWaiting)
	case j.Cause == collector.CauseReplaced:
		return in.rewriteTo(Relink, j.NameHolder, r)
	case j.Verdict == collector.VerdictDangling && !j.NamesListKind():
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateMissingInVersion, ServedVersions: []string{r.APIVersion}}}
	}
	return Repair{Fix: None, Found: reason.Found{State: reason.StateUnverifiedInVersion, ServedVersions: []string{r.APIVersion}}}
}

// rewriteTo rewrites the reference to an owner, unless the object would not gain a solid
// owner. A list and a lookup may have read the owner in two states; if either is
// terminating, the owner is.
func (in *input) rewriteTo(fix Fix, owner *object.Object, r object.Reference) Repair {
	r.UID = owner.UID
	terminating := owner.Terminating() || in.judge.Hypothetical(in.node, r).Verdict != collector.VerdictSolid
	switch {
	case owner.UID == in.object.UID:
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateItself}}
	case owner.Contested:
		return none(reason.StateReplacementContested)
	case in.owners[owner.UID]:
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateReferencedTwice}}
	case in.unverified[owner.UID]:
		return none(reason.StateReferencedTwiceUnknown)
	case in.closesCycle(owner):
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateOwnedByDependent}}
	case terminating && fix == Relink:
		return none(reason.StateReplacementTerminating)
	case terminating:
		return none(reason.StateTerminating)
	}
	return Repair{Fix: fix, Becomes: r}
}

func none(why reason.OwnerState) Repair { return Repair{Fix: None, Found: reason.Found{State: why}} }
