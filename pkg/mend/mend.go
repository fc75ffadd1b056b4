package mend

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Fix is what is done with a reference. The words are part of the JSON contract.
type Fix string

// The fixes.
const (
	Unlink    Fix = "unlink"    // drop the reference
	Relink    Fix = "relink"    // point it at the owner's successor of the same name
	Reversion Fix = "reversion" // rewrite its apiVersion to a served one
	None      Fix = "none"
)

// Mend is how one reference is mended.
type Mend struct {
	Fix Fix
	// Becomes is what the reference is to be after Relink and Reversion: its UID is
	// that of an object which was seen. Else it is the zero value.
	Becomes object.Reference
	// Asked says that nobody can prove the owner absent, though it can never be
	// found in that way: so it is for a person to say, reference by reference.
	Asked bool
	// Chosen says that a person named this very reference: it goes, whether it holds
	// or not. A Mender never answers that.
	Chosen bool
	// Why says why there is None, or why Unlink where another fix would be expected,
	// to be put behind the reference. Unescaped; empty where the cause says it all.
	Why string
}

// Same says whether two mends do the same.
func (m Mend) Same(o Mend) bool {
	return m.Fix == o.Fix && m.Asked == o.Asked && m.Becomes.SameOwner(o.Becomes)
}

// situation is all that the mend of one reference rests on.
type situation struct {
	object    *object.Object
	reference object.Reference
	judgement collector.Judgement
	// would judges the reference as if it were another.
	would func(object.Reference) collector.Judgement
	// owned says whether the object has that owner by another reference, one that is
	// solid or that is mended so.
	owned func(*object.Object) bool
	// claimed says whether another reference has that owner's UID, and nobody could find
	// out whether it holds.
	claimed func(*object.Object) bool
	// closes says whether the object would own itself, if only by way of others, if
	// that object became its owner.
	closes func(*object.Object) bool
}

// mend is the table.
func (s *situation) mend() Mend {
	j := s.judgement
	switch {
	case j.Verdict == collector.Solid:
		return none("holds")
	case s.object.Contested:
		return none("cannot be mended: another object has the UID of this one")
	case s.object.Terminating():
		return none("matters no more: the object is being deleted already")
	case j.Cause == collector.Unverified:
		return none("may hold or not: nobody could find out")
	case j.Withheld():
		return Mend{Fix: Unlink, Asked: true, Why: "names a kind of lists, most likely by mistake, so the owner may well be there"}
	}
	switch j.Cause {
	case collector.Terminating:
		return none("is being deleted and waits for its dependents to go")
	case collector.UnknownKind:
		return Mend{Fix: Unlink, Asked: true, Why: "is of a kind that is not served, so nobody can say whether it is there"}
	case collector.UnservedVersion:
		return s.reversion()
	case collector.Replaced:
		return s.toward(Relink, j.Resident, s.reference)
	case collector.ClusterToNamespaced, collector.CrossNamespace, collector.Mismatched, collector.Missing:
		return Mend{Fix: Unlink}
	case collector.NoCause, collector.Unverified:
	}
	return none("cannot be judged")
}

// reversion mends a reference whose version is not served to the owner that it
// means. Where its UID is known to live elsewhere or to be of another kind, a
// served version would only make the reference dangle, and the object garbage.
func (s *situation) reversion() Mend {
	r, holder := s.reference, s.judgement.Holder
	if holder != nil && (holder.Kind != r.Kind || holder.Name != r.Name ||
		holder.Namespace != "" && holder.Namespace != s.object.Namespace) {
		return Mend{Fix: Unlink, Why: "is not whose UID it names: that is " + holder.String()}
	}
	r.APIVersion = s.judgement.Served[0]
	j := s.would(r)
	switch {
	case j.Verdict == collector.Solid:
		return s.toward(Reversion, j.Holder, r)
	case j.Verdict == collector.Waiting:
		return none("is being deleted and waits for its dependents to go")
	case j.Cause == collector.Replaced:
		return s.toward(Relink, j.Resident, r)
	case j.Verdict == collector.Dangling && !j.Withheld():
		return Mend{Fix: Unlink, Why: "is gone: it is not there in " + r.APIVersion + " either"}
	}
	return none("names a version that is not served, and nobody could find out whether it is there in " + r.APIVersion)
}

// toward rewrites the reference so that it leads to that owner, unless that
// would not leave the object with one more owner that holds. A list and a lookup
// may have seen the owner in two states: one in which it is being deleted is enough.
func (s *situation) toward(fix Fix, owner *object.Object, r object.Reference) Mend {
	r.UID = owner.UID
	going := owner.Terminating() || s.would(r).Verdict != collector.Solid
	switch {
	case owner.UID == s.object.UID:
		return Mend{Fix: Unlink, Why: "is the object itself, which cannot own itself"}
	case owner.Contested:
		return none("has another UID now, which another object has, too")
	case s.owned(owner):
		return Mend{Fix: Unlink, Why: "is its owner by another reference"}
	case s.claimed(owner):
		return none("is named by another reference, too, of which nobody could find out whether it holds")
	case s.closes(owner):
		return Mend{Fix: Unlink, Why: "belongs to this object itself, so they would own each other"}
	case going && fix == Relink:
		return none("has another UID now, and the object that has its name is being deleted, too")
	case going:
		return none("is being deleted")
	}
	return Mend{Fix: fix, Becomes: r}
}

func none(why string) Mend { return Mend{Fix: None, Why: why} }
