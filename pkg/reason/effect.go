package reason

import "fmt"

// What the collector does with the object of a finding.
var _ = register(
	RemovesReference{}, CannotDecide{}, NoEffect{}, NeverCollected{}, NeverCompletes{}, Waits{},
)

// Those without parameters.
var (
	// the collector will delete the object
	DeletesObject = fixed("DeletesObject", "the garbage collector will delete this object", "deletes object")
	// it depends on the order of events whether the collector deletes the object
	MayDeleteObject = fixed("MayDeleteObject", "the garbage collector may delete this object", "may delete object")
	// it depends on the order of events whether the collector removes the reference
	MayRemoveReference = fixed("MayRemoveReference", "the garbage collector may remove this reference", "may remove reference")
	// it is unknown what the collector will do
	EffectUnknown = fixed("EffectUnknown", "it is unknown what the garbage collector will do", "unknown")
	// a member of the cycle is being deleted already
	DeletionUnderWay = fixed("DeletionUnderWay", "one of them is already being deleted", "nothing: deletion in progress")
	// the collector removes references by UID, so that a good one goes with the bad one
	RemovesAllWithUID = fixed("RemovesAllWithUID",
		"the garbage collector removes references by UID, so it removes the valid reference together with the invalid one", "removes every reference to that UID")
	// the API server refuses the collector's update of the object
	UpdateRefused = fixed("UpdateRefused",
		"the garbage collector tries to remove another reference, and the API server refuses every attempt", "cannot remove reference: update refused")
	// whoever set the finalizer has to remove it
	WaitsForController = fixed("WaitsForController",
		"the garbage collector only removes its own finalizers", "waits for the finalizer's controller")
	// the namespace controller tries to complete the deletion of the Namespace, and cannot
	NamespaceControllerFails = fixed("NamespaceControllerFails",
		"the namespace controller tries again and again, and fails until somebody repairs the cause", "namespace controller fails")
	// it is unknown whether the namespace controller completes the deletion of the Namespace
	NamespaceEndUnknown = fixed("NamespaceEndUnknown",
		"it is unknown whether the namespace controller completes the deletion", "unknown")
)

// Those with one parameter.
type (
	NeverCollected cycleParameter // the collector never collects an object that owns itself, if only by way of others
	NeverCompletes cycleParameter // a foreground deletion waits for itself
)

func (NeverCollected) Brief() string { return "never collected" }
func (r NeverCollected) Message() string {
	if r.Itself {
		return "the garbage collector never collects it, and if the reference blocks, a foreground deletion of the object would never complete"
	}
	return "each has an existing owner, so the garbage collector never collects any of them until someone deletes one"
}
func (NeverCompletes) Brief() string { return "deletion never completes" }
func (r NeverCompletes) Message() string {
	if r.Itself {
		return "it is being deleted in the foreground and waits for itself, so its deletion never completes"
	}
	return "all of them are being deleted in the foreground and each waits for another, so their deletion never completes"
}

// RemovesReference means that the collector will remove the reference and keep the object.
type RemovesReference struct {
	OwnersLeft int `json:"ownersLeft"`
}

func (r RemovesReference) Brief() string {
	if r.OwnersLeft > 1 {
		return "removes reference, " + owners(r.OwnersLeft) + " remain"
	}
	return "removes reference, " + owners(r.OwnersLeft) + " remains"
}

func (r RemovesReference) Message() string {
	text := "the garbage collector will remove this reference and keep the object, which then has " + owners(r.OwnersLeft) + " left"
	if r.OwnersLeft == 0 {
		text += " and is never collected"
	}
	return text
}

func owners(n int) string {
	switch n {
	case 0:
		return "no owner"
	case 1:
		return "1 owner"
	}
	return fmt.Sprintf("%d owners", n)
}

// CannotDecide means that a reference of the object cannot be resolved, so that the collector skips the whole object.
type CannotDecide struct {
	// Culprit is the reference that cannot be resolved; nil where it is the finding's own.
	Culprit *Owner `json:"culprit,omitempty"`
	// Repaired is what the collector may do once that is repaired; nil where that changes
	// nothing for the finding's reference.
	Repaired *Nested `json:"repaired,omitempty"`
}

func (CannotDecide) Brief() string { return "cannot resolve owner, keeps object" }

func (r CannotDecide) Message() string {
	if r.Culprit == nil {
		return "the garbage collector cannot resolve this owner and keeps the object as long as it cannot"
	}
	text := fmt.Sprintf("the garbage collector cannot resolve the object's reference to %s, so it keeps the object", r.Culprit)
	if r.Repaired != nil {
		would := "remove this reference"
		if r.Repaired.Reason == DeletesObject {
			would = "delete this object"
		}
		text += "; once that is repaired, it may " + would
	}
	return text
}

// NoEffect means that the collector does nothing about it.
type NoEffect struct {
	Terminating bool `json:"terminating,omitzero"` // the object is being deleted already
}

func (r NoEffect) Brief() string {
	if r.Terminating {
		return "nothing: object is being deleted"
	}
	return "nothing"
}

func (r NoEffect) Message() string {
	if r.Terminating {
		return "the object is already being deleted, so the garbage collector does nothing about it"
	}
	return "the garbage collector does nothing about it"
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
func Join(reasons ...Reason) string {
	text := ""
	for _, r := range reasons {
		switch message := Message(r); {
		case text == "":
			text = message
		case message != "":
			text += "; " + message
		}
	}
	return text
}
