package collector

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// Owner returns the owner that r names, with what the judgement found.
func (j Judgement) Owner(r object.Reference) reason.Owner {
	return reason.NewOwner(r, j.Found())
}

// Found returns what the judgement found about the owner.
func (j Judgement) Found() reason.Found {
	out := reason.Found{State: j.ownerState(), ServedVersions: j.Served}
	if j.Holder != nil && j.Cause != NoCause {
		out.UIDHolder = &j.Holder.Identity
	}
	if j.Resident != nil {
		out.NameHolder = &j.Resident.Identity
	}
	return out
}

func (j Judgement) ownerState() reason.OwnerState {
	if j.Withheld() {
		return reason.StateKindIsList
	}
	switch j.Cause {
	case Unverified:
		return reason.StateUnverified
	case ClusterToNamespaced:
		return reason.StateNamespaced
	case UnservedVersion:
		return reason.StateVersionNotServed
	case UnknownKind:
		return reason.StateKindUnknown
	case CrossNamespace:
		return reason.StateInOtherNamespace
	case Mismatched:
		return reason.StateMismatched
	case Replaced:
		return reason.StateReplaced
	case Missing:
		return reason.StateMissing
	case Terminating:
		return reason.StateWaiting
	case NoCause:
	}
	return reason.StateExists
}

// Unverified returns why the owner could not be verified. The cause must be
// CauseUnverified.
func (j Judgement) Unverified(r object.Reference) reason.OwnerUnverified {
	out := reason.OwnerUnverified{Owner: j.Owner(r)}
	switch {
	case j.Gap != nil:
		gap := j.Gap.Parameter()
		out.Gap = &gap
	case j.Lookup != nil:
		out.ErrorClass, out.Detail = string(j.Lookup.Reason), j.Lookup.Message
	}
	return out
}
