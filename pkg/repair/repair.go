package repair

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Fix is what is done with a reference. The words are part of the JSON contract.
type Fix string

// The fixes.
const (
	Unlink        Fix = "unlink"         // drop the reference
	Relink        Fix = "relink"         // point it at the owner's successor of the same name
	UpdateVersion Fix = "update-version" // rewrite its apiVersion to a served one
	None          Fix = "none"
)

// Repair is how one reference is mended.
type Repair struct {
	Fix Fix
	// Becomes is what the reference is to be after Relink and UpdateVersion: its UID is
	// that of an object which was seen. Else it is the zero value.
	Becomes object.Reference
	// Asked says that nobody can prove the owner absent, though it can never be
	// found in that way: so it is for a person to say, reference by reference.
	Asked bool
	// Chosen says that a person named this very reference: it goes, whether it holds
	// or not. A Mender never answers that.
	Chosen bool
	// Found says why there is None, or why Unlink where another fix would be expected. Its
	// state is empty where the cause of the judgement says it all.
	Found reason.Found
}

// Same says whether two mends do the same.
func (m Repair) Same(o Repair) bool {
	return m.Fix == o.Fix && m.Asked == o.Asked && m.Becomes.SameOwner(o.Becomes)
}

// input is all that the mend of one reference rests on.
type input struct {
	object    *object.Object
	reference object.Reference
	judgement collector.Judgement
	// verdictFor judges the reference as if it were another.
	verdictFor func(object.Reference) collector.Judgement
	// alreadyOwned says whether the object has that owner by another reference, one that is
	// solid or that is mended so.
	alreadyOwned func(*object.Object) bool
	// unverified says whether another reference has that owner's UID, and nobody could find
	// out whether it holds.
	unverified func(*object.Object) bool
	// closesCycle says whether the object would own itself, if only by way of others, if
	// that object became its owner.
	closesCycle func(*object.Object) bool
}

// decide is the table.
func (s *input) decide() Repair {
	j := s.judgement
	switch {
	case j.Verdict == collector.Solid:
		return none(reason.StateExists)
	case s.object.Contested:
		return none(reason.StateDependentContested)
	case s.object.Terminating():
		return none(reason.StateDependentTerminating)
	case j.Cause == collector.Unverified:
		return none(reason.StateUnverified)
	case j.Withheld():
		return Repair{Fix: Unlink, Asked: true, Found: reason.Found{State: reason.StateKindIsList}}
	}
	switch j.Cause {
	case collector.Terminating:
		return none(reason.StateWaiting)
	case collector.UnknownKind:
		return Repair{Fix: Unlink, Asked: true, Found: reason.Found{State: reason.StateKindUnknown}}
	case collector.UnservedVersion:
		return s.updateVersion()
	case collector.Replaced:
		return s.rewriteTo(Relink, j.Resident, s.reference)
	case collector.ClusterToNamespaced, collector.CrossNamespace, collector.Mismatched, collector.Missing:
		return Repair{Fix: Unlink}
	case collector.NoCause, collector.Unverified:
	}
	return none(reason.StateUnverified)
}

// updateVersion repairs a reference whose version is not served to the owner that it
// means. Where its UID is known to live elsewhere or to be of another kind, a
// served version would only make the reference dangle, and the object garbage.
func (s *input) updateVersion() Repair {
	r, holder := s.reference, s.judgement.Holder
	if holder != nil && (holder.Kind != r.Kind || holder.Name != r.Name ||
		holder.Namespace != "" && holder.Namespace != s.object.Namespace) {
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateMismatched, UIDHolder: &holder.Identity}}
	}
	r.APIVersion = s.judgement.Served[0]
	j := s.verdictFor(r)
	switch {
	case j.Verdict == collector.Solid:
		return s.rewriteTo(UpdateVersion, j.Holder, r)
	case j.Verdict == collector.Waiting:
		return none(reason.StateWaiting)
	case j.Cause == collector.Replaced:
		return s.rewriteTo(Relink, j.Resident, r)
	case j.Verdict == collector.Dangling && !j.Withheld():
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateMissingInVersion, ServedVersions: []string{r.APIVersion}}}
	}
	return Repair{Fix: None, Found: reason.Found{State: reason.StateUnverifiedInVersion, ServedVersions: []string{r.APIVersion}}}
}

// rewriteTo rewrites the reference so that it leads to that owner, unless that
// would not leave the object with one more owner that holds. A list and a lookup
// may have seen the owner in two states: one in which it is being deleted is enough.
func (s *input) rewriteTo(fix Fix, owner *object.Object, r object.Reference) Repair {
	r.UID = owner.UID
	going := owner.Terminating() || s.verdictFor(r).Verdict != collector.Solid
	switch {
	case owner.UID == s.object.UID:
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateItself}}
	case owner.Contested:
		return none(reason.StateReplacementContested)
	case s.alreadyOwned(owner):
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateReferencedTwice}}
	case s.unverified(owner):
		return none(reason.StateReferencedTwiceUnknown)
	case s.closesCycle(owner):
		return Repair{Fix: Unlink, Found: reason.Found{State: reason.StateOwnedByDependent}}
	case going && fix == Relink:
		return none(reason.StateReplacementTerminating)
	case going:
		return none(reason.StateTerminating)
	}
	return Repair{Fix: fix, Becomes: r}
}

func none(why reason.OwnerState) Repair { return Repair{Fix: None, Found: reason.Found{State: why}} }
