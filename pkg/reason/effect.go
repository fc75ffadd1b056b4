package reason

import (
	"fmt"
)

// What the collector does with the object of a finding.
var _ = register(
	DeletesObject{}, RemovesReference{}, CannotDecide{}, EffectUnknown{}, NoEffect{}, NeverCollected{}, NeverCompletes{}, DeletionUnderWay{},
	RemovesAllWithUID{}, UpdateRefused{}, Waits{}, WaitsForController{},
)

// DeletesObject means that the collector will delete the object.
type DeletesObject struct{}

// Brief implements Brief.
func (DeletesObject) Brief() string { return "deletes object" }

// Message implements Reason.
func (DeletesObject) Message() string { return "the garbage collector will delete this object" }

// RemovesReference means that the collector will remove the reference and keep the object.
type RemovesReference struct {
	OwnersLeft int `json:"ownersLeft"`
}

// Brief implements Brief.
func (r RemovesReference) Brief() string {
	if r.OwnersLeft > 1 {
		return "removes reference, " + owners(r.OwnersLeft) + " remain"
	}
	return "removes reference, " + owners(r.OwnersLeft) + " remains"
}

// Message implements Reason.
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

// CannotDecide means that a reference of the object cannot be resolved, so that the
// collector skips the whole object.
type CannotDecide struct {
	// Culprit is the reference that cannot be resolved; nil where it is the finding's own.
	Culprit *Owner `json:"culprit,omitempty"`
	// Repaired is what the collector may do once that is repaired; nil where that changes
	// nothing for the finding's reference.
	Repaired *Nested `json:"repaired,omitempty"`
}

// Brief implements Brief.
func (CannotDecide) Brief() string { return "cannot resolve owner, keeps object" }

// Message implements Reason.
func (r CannotDecide) Message() string {
	if r.Culprit == nil {
		return "the garbage collector cannot resolve this owner and keeps the object until this is repaired"
	}
	text := fmt.Sprintf("the garbage collector cannot resolve the object's reference to %s, so it keeps the object", r.Culprit)
	if r.Repaired != nil {
		would := "remove this reference"
		if (r.Repaired.Reason == DeletesObject{}) {
			would = "delete this object"
		}
		text += "; once that is repaired, it may " + would
	}
	return text
}

// EffectUnknown means that it is unknown what the collector will do.
type EffectUnknown struct{}

// Brief implements Brief.
func (EffectUnknown) Brief() string { return "unknown" }

// Message implements Reason.
func (EffectUnknown) Message() string { return "it is unknown what the garbage collector will do" }

// NoEffect means that the collector does nothing about it.
type NoEffect struct {
	Terminating bool `json:"terminating,omitzero"` // the object is being deleted already
}

// Brief implements Brief.
func (r NoEffect) Brief() string {
	if r.Terminating {
		return "nothing: object is being deleted"
	}
	return "nothing"
}

// Message implements Reason.
func (r NoEffect) Message() string {
	if r.Terminating {
		return "the object is already being deleted, so the garbage collector does nothing about it"
	}
	return "the garbage collector does nothing about it"
}

// NeverCollected means that the collector never collects an object that owns itself, if
// only by way of others.
type NeverCollected struct {
	Itself bool `json:"itself,omitzero"` // the object alone, not a cycle of several
}

// Brief implements Brief.
func (NeverCollected) Brief() string { return "never collected" }

// Message implements Reason.
func (r NeverCollected) Message() string {
	if r.Itself {
		return "the garbage collector never collects it, and if the reference blocks, a foreground deletion of the object would never complete"
	}
	return "each has an existing owner, so the garbage collector never collects any of them until someone deletes one"
}

// NeverCompletes means that a foreground deletion waits for itself.
type NeverCompletes struct {
	Itself bool `json:"itself,omitzero"` // the object alone, not a cycle of several
}

// Brief implements Brief.
func (NeverCompletes) Brief() string { return "deletion never completes" }

// Message implements Reason.
func (r NeverCompletes) Message() string {
	if r.Itself {
		return "it is being deleted in the foreground and waits for itself, so its deletion never completes"
	}
	return "all of them are being deleted in the foreground and each waits for another, so their deletion never completes"
}

// DeletionUnderWay means that a member of the cycle is being deleted already.
type DeletionUnderWay struct{}

// Brief implements Brief.
func (DeletionUnderWay) Brief() string { return "nothing: deletion in progress" }

// Message implements Reason.
func (DeletionUnderWay) Message() string { return "one of them is already being deleted" }

// RemovesAllWithUID means that the collector removes references by UID, so that a good one
// goes with the bad one.
type RemovesAllWithUID struct{}

// Brief implements Brief.
func (RemovesAllWithUID) Brief() string { return "removes every reference to that UID" }

// Message implements Reason.
func (RemovesAllWithUID) Message() string {
	return "the garbage collector removes references by UID, so it removes the valid reference together with the invalid one"
}

// UpdateRefused means that the API server refuses the collector's update of the object.
type UpdateRefused struct{}

// Brief implements Brief.
func (UpdateRefused) Brief() string { return "cannot remove reference: update refused" }

// Message implements Reason.
func (UpdateRefused) Message() string {
	return "the garbage collector tries to remove another reference, and the API server refuses every attempt"
}

// Waits means that the collector cannot complete the deletion now.
type Waits struct {
	Forever bool `json:"forever,omitzero"` // nothing that happens by itself changes that
	Idle    bool `json:"idle,omitzero"`    // nothing is in the way: the collector has not processed it, or has lost track of it
	Unknown bool `json:"unknown,omitzero"` // too little could be read to tell
}

// Brief implements Brief.
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

// Message implements Reason. The finding says what the object waits for, so there is
// nothing to add.
func (Waits) Message() string { return "" }

// WaitsForController means that whoever set the finalizer has to remove it.
type WaitsForController struct{}

// Brief implements Brief.
func (WaitsForController) Brief() string { return "waits for the finalizer's controller" }

// Message implements Reason.
func (WaitsForController) Message() string {
	return "the garbage collector only removes its own finalizers"
}

// Join returns the messages of several reasons as one sentence.
func Join(reasons ...Reason) string {
	text := ""
	for _, r := range reasons {
		switch said := Message(r); {
		case text == "":
			text = said
		case said != "":
			text += "; " + said
		}
	}
	return text
}
