package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// InUse is what still needs an object that Kubernetes protects until nothing does.
type InUse struct {
	UsedBy       []User `json:"usedBy,omitempty"`
	UsersUnknown bool   `json:"usersUnknown,omitzero"` // there may be more: not all could be read
}

// User is what needs an object. It has no UID if only another object names it.
type User struct {
	object.Identity `json:",inline"`
	Use             Use `json:"use"`
}

// Use is how an object is used. The words are part of the JSON contract.
type Use string

// The uses.
const (
	Uses        Use = "uses"        // a Pod that mounts or has reserved a claim, or is in a group
	BoundTo     Use = "boundTo"     // the claim of a volume; a snapshot and its content
	Attaches    Use = "attaches"    // the attachment of a volume
	CreatedFrom Use = "createdFrom" // a snapshot or a claim that is not complete yet
)

// verbs follow one user, or several.
var verbs = map[Use][2]string{
	Uses: {"uses it", "use it"}, BoundTo: {"is bound to it", "are bound to it"},
	Attaches: {"attaches it to a node", "attach it to a node"}, CreatedFrom: {"is being created from it", "are being created from it"},
}

// Any reports whether something uses the object, or may.
func (r InUse) Any() bool { return len(r.UsedBy) > 0 || r.UsersUnknown }

// users returns who uses the object, as a clause.
func (r InUse) users() string {
	use, several := r.UsedBy[0].Use, min(len(r.UsedBy)-1, 1)
	for _, u := range r.UsedBy {
		if u.Use != use {
			use = Uses
		}
	}
	return r.Names() + " " + verbs[use][several]
}

// Names names the users.
func (r InUse) Names() string { return first(mostNamed, r.UsedBy, ", ", "%d more", User.name) }

// name names the namespace, too, of what is bound to an object that may have none.
func (u User) name() string {
	if u.Use == BoundTo && u.Namespace != "" {
		return u.String() + " in namespace " + u.Namespace
	}
	return u.String()
}

// Phrase returns that the object is, or may be, in use, as what follows its name.
func (r InUse) Phrase() string {
	if len(r.UsedBy) > 0 {
		return "is in use by " + r.Names()
	}
	return "may be in use: this tool has not read what uses it"
}

// Lost returns what it means for a user that an object is gone, as a sentence without its full stop.
func (u User) Lost(of object.Identity) string {
	switch kind := u.GroupVersionKind().GroupKind(); {
	case kind == object.VolumeClaim && u.Use == BoundTo: // pv_controller.go, syncBoundClaim
		return fmt.Sprintf("%s is Lost now: its volume is gone", u.name())
	case kind == object.Pod && of.GroupVersionKind().GroupKind() == object.VolumeClaim:
		return fmt.Sprintf("%s has lost its claim %s", u.name(), of.Name)
	}
	return fmt.Sprintf("%s has lost %s", u.name(), of)
}
