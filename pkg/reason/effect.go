package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What the collector does with the object of a finding.
var _ = register(
	DeletesObject{}, RemovesReference{}, CannotDecide{}, EffectUnknown{}, NoEffect{}, NeverCollected{}, NeverCompletes{}, DeletionUnderWay{},
	RemovesAllWithUID{}, UpdateRefused{}, Waits{}, WaitsForController{},
)

// DeletesObject means that the collector will delete the object.
type DeletesObject struct{}

// Brief implements Brief.
func (DeletesObject) Brief() string { return "deletes it" }

// Message implements Reason.
func (DeletesObject) Message() string { return "the collector will delete this object" }

// RemovesReference means that the collector will remove the reference and keep the object.
type RemovesReference struct {
	OwnersLeft int `json:"ownersLeft"`
}

// Brief implements Brief.
func (r RemovesReference) Brief() string {
	if r.OwnersLeft > 1 {
		return "drops the reference, " + owners(r.OwnersLeft) + " remain"
	}
	return "drops the reference, " + owners(r.OwnersLeft) + " remains"
}

// Message implements Reason.
func (r RemovesReference) Message() string {
	text := "the collector will drop this reference and keep the object, which has " + owners(r.OwnersLeft) + " left"
	if r.OwnersLeft == 0 {
		text += " and is never collected then"
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
func (CannotDecide) Brief() string { return "cannot decide, leaves it" }

// Message implements Reason.
func (r CannotDecide) Message() string {
	if r.Culprit == nil {
		return "as long as that is so, the collector cannot decide and leaves the object alone"
	}
	text := fmt.Sprintf("because of the object's reference to %s, the collector cannot decide and leaves the object alone", r.Culprit)
	if r.Repaired != nil {
		would := "drop this reference"
		if (r.Repaired.Reason == DeletesObject{}) {
			would = "delete this object"
		}
		text += "; once that is mended, it may " + would
	}
	return text
}

// EffectUnknown means that nobody can tell what the collector will do.
type EffectUnknown struct{}

// Brief implements Brief.
func (EffectUnknown) Brief() string { return "unknown" }

// Message implements Reason.
func (EffectUnknown) Message() string { return "what the collector will do cannot be told from here" }

// NoEffect means that the collector does nothing about it.
type NoEffect struct {
	Terminating bool `json:"terminating,omitzero"` // the object is being deleted already
}

// Brief implements Brief.
func (r NoEffect) Brief() string {
	if r.Terminating {
		return "nothing: it is being deleted"
	}
	return "nothing"
}

// Message implements Reason.
func (r NoEffect) Message() string {
	if r.Terminating {
		return "the object is being deleted already, so the collector does nothing about it"
	}
	return "the collector does nothing about it"
}

// NeverCollected means that the collector never collects an object that owns itself, if
// only by way of others.
type NeverCollected struct {
	Itself bool `json:"itself,omitzero"` // the object alone, not a cycle of several
}

// Brief implements Brief.
func (r NeverCollected) Brief() string {
	if r.Itself {
		return "never collects it"
	}
	return "never collects them"
}

// Message implements Reason.
func (r NeverCollected) Message() string {
	if r.Itself {
		return "the collector never collects it, and a foreground deletion of it would never end if the reference blocks"
	}
	return "each has an existing owner, so the collector never collects any of them until somebody deletes one"
}

// NeverCompletes means that a foreground deletion waits for itself.
type NeverCompletes struct {
	Itself bool `json:"itself,omitzero"` // the object alone, not a cycle of several
}

// Brief implements Brief.
func (r NeverCompletes) Brief() string {
	if r.Itself {
		return "never ends its deletion"
	}
	return "never ends their deletion"
}

// Message implements Reason.
func (r NeverCompletes) Message() string {
	if r.Itself {
		return "it is being deleted in the foreground, so it waits for itself to go, and its deletion never ends"
	}
	return "all of them are being deleted in the foreground and each waits for another to go, so that their deletion never ends"
}

// DeletionUnderWay means that a member of the cycle is being deleted already.
type DeletionUnderWay struct{}

// Brief implements Brief.
func (DeletionUnderWay) Brief() string { return "nothing: a deletion is under way" }

// Message implements Reason.
func (DeletionUnderWay) Message() string { return "one of them is being deleted already" }

// RemovesAllWithUID means that the collector removes references by UID, so that a good one
// goes with the bad one.
type RemovesAllWithUID struct{}

// Brief implements Brief.
func (RemovesAllWithUID) Brief() string { return "drops every reference to that UID" }

// Message implements Reason.
func (RemovesAllWithUID) Message() string {
	return "the collector drops references by UID, so a good one goes with the bad one"
}

// UpdateRefused means that the API server refuses the collector's update of the object.
type UpdateRefused struct{}

// Brief implements Brief.
func (UpdateRefused) Brief() string { return "is refused when it drops a reference" }

// Message implements Reason.
func (UpdateRefused) Message() string {
	return "the collector tries to drop another reference and is refused again and again"
}

// Waits means that the collector cannot complete the deletion now.
type Waits struct {
	Forever bool `json:"forever,omitzero"` // nothing that happens by itself changes that
	Idle    bool `json:"idle,omitzero"`    // nothing is in the way: the collector has not come to it, or has lost it
	Unknown bool `json:"unknown,omitzero"` // too little could be read to tell
}

// Brief implements Brief.
func (r Waits) Brief() string {
	switch {
	case r.Forever:
		return "waits for ever"
	case r.Idle:
		return "has not come, or has lost it"
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
func (WaitsForController) Brief() string { return "waits for whoever set it" }

// Message implements Reason.
func (WaitsForController) Message() string {
	return "the collector never removes a finalizer that is not its own"
}

// Culprit returns an owner reference as a parameter, without what was found of it.
func Culprit(r object.Reference) *Owner {
	return &Owner{APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID}
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
