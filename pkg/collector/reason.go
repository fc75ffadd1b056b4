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
	if j.UIDHolder != nil && j.Cause != CauseNone {
		out.UIDHolder = &j.UIDHolder.Identity
	}
	if j.NameHolder != nil {
		out.NameHolder = &j.NameHolder.Identity
	}
	return out
}

func (j Judgement) ownerState() reason.OwnerState {
	if j.NamesListKind() {
		return reason.StateKindIsList
	}
	switch j.Cause {
	case CauseUnverified:
		return reason.StateUnverified
	case CauseClusterToNamespaced:
		return reason.StateNamespaced
	case CauseUnservedVersion:
		return reason.StateVersionNotServed
	case CauseUnknownKind:
		return reason.StateKindUnknown
	case CauseCrossNamespace:
		return reason.StateInOtherNamespace
	case CauseMismatched:
		return reason.StateMismatched
	case CauseReplaced:
		return reason.StateReplaced
	case CauseMissing:
		return reason.StateMissing
	case CauseTerminating:
		return reason.StateWaiting
	case CauseNone:
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
