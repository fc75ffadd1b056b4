package reason

import "fmt"

// What the collector does with the object of a finding.
var (
	DeletesObject = fixed("DeletesObject", "the garbage collector will delete this object", "will be deleted")
	// it depends on the order of events whether the collector deletes the object
	MayDeleteObject = fixed("MayDeleteObject", "the garbage collector may delete this object", "may be deleted")
	// it depends on the order of events whether the collector removes the reference
	MayRemoveReference = fixed("MayRemoveReference", "the garbage collector may remove this reference", "may lose a reference")
	EffectUnknown      = fixed("EffectUnknown", "it is unknown what the garbage collector will do", "unknown")
	// a member of the cycle is being deleted already
	DeletionUnderWay  = fixed("DeletionUnderWay", "one of them is already being deleted", "deletion in progress")
	RemovesAllWithUID = fixed("RemovesAllWithUID",
		"the garbage collector removes references by UID, so it removes the valid reference together with the invalid one", "loses all references to that UID")
	UpdateRefused = fixed("UpdateRefused",
		"the garbage collector tries to remove another reference, and the API server refuses every attempt", "kept, update refused")
	WaitsForController = fixed("WaitsForController",
		"the garbage collector only removes its own finalizers", "waits for the finalizer's controller")
	NamespaceControllerFails = fixed("NamespaceControllerFails",
		"the namespace controller keeps retrying, and fails until someone fixes the cause", "namespace controller fails")
	NamespaceEndUnknown = fixed("NamespaceEndUnknown",
		"it is unknown whether the namespace controller completes the deletion", "unknown")

	// the collector never collects an object that owns itself, if only by way of others
	NeverCollected = either("NeverCollected", "itself,omitzero",
		"the garbage collector never collects it, and if the reference blocks, a foreground deletion of the object would never complete",
		"each has an existing owner, so the garbage collector never collects any of them until someone deletes one", keptForever)
	// a foreground deletion waits for itself
	NeverCompletes = either("NeverCompletes", "itself,omitzero",
		"it is being deleted in the foreground and waits for itself, so its deletion never completes",
		"all of them are being deleted in the foreground and each waits for another, so their deletion never completes", "deletion never completes")
	// the collector does nothing about it, for example because the object is being deleted already
	NoEffect = either("NoEffect", "terminating,omitzero",
		"the object is already being deleted, so the garbage collector does nothing about it", "the garbage collector does nothing about it",
		"already being deleted", "nothing")
	// the collector will remove the reference and keep the object
	RemovesReference = says("RemovesReference", "ownersLeft", func(left int) string {
		text := "the garbage collector will remove this reference and keep the object, which then has " + owners(left) + " left"
		if left == 0 {
			text += " and is never collected"
		}
		return text
	}, func(int) string { return "kept, loses this reference" })
)

// keptForever is the short form for what the collector leaves alone, whatever is the cause.
const keptForever = "kept, never collected"

func owners(n int) string {
	if n == 0 {
		return "no owner"
	}
	return Count(n, "owner")
}

// CannotDecide means that a reference of the object cannot be resolved, so that the collector skips the whole object.
type CannotDecide struct {
	// Culprit is the reference that cannot be resolved; nil where it is the finding's own.
	Culprit *Owner `json:"culprit,omitempty"`
	// Repaired is what the collector may do once that is repaired; nil where that changes
	// nothing for the finding's reference.
	Repaired *Reason `json:"repaired,omitempty"`
}

func (CannotDecide) Brief() string { return keptForever }

func (r CannotDecide) Message() string {
	if r.Culprit == nil {
		return "the garbage collector cannot resolve this owner, so it keeps the object"
	}
	text := fmt.Sprintf("the garbage collector cannot resolve the object's reference to %s, so it keeps the object", r.Culprit)
	if r.Repaired != nil {
		would := "remove this reference"
		if r.Repaired == DeletesObject {
			would = "delete this object"
		}
		text += "; once that is repaired, it may " + would
	}
	return text
}

// Waits means that the collector cannot complete the deletion now.
type Waits struct {
	Forever bool `json:"forever,omitzero"` // nothing that happens by itself changes that
	Idle    bool `json:"idle,omitzero"`    // nothing is in the way: the collector has not processed it, or has lost track of it
	Unknown bool `json:"unknown,omitzero"` // too little could be read to tell
}

func (r Waits) Brief() string {
	switch {
	case r.Forever:
		return "waits forever"
	case r.Idle:
		return "not processed yet, or lost"
	case r.Unknown:
		return "unknown"
	}
	return "waits"
}

// Message returns nothing, as the finding says what the object waits for.
func (Waits) Message() string { return "" }

// Join returns the messages of several reasons as one sentence.
func Join(reasons ...*Reason) string {
	text := ""
	for _, r := range reasons {
		switch message := r.Message(); {
		case text == "":
			text = message
		case message != "":
			text += "; " + message
		}
	}
	return text
}
