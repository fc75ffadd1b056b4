package reason

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// What the controller of a deleted object deletes with it, though no owner reference says so.
type (
	// InventoryDeleted means that the controller deletes what its inventory lists: what it has deployed.
	InventoryDeleted struct {
		Controller string `json:"controller"`
		Objects    int    `json:"objects"`         // how many it deletes of those that were read
		Kept       int    `json:"kept,omitzero"`   // how many it leaves
		Unread     int    `json:"unread,omitzero"` // how many may exist, but were not read
		// Unapproved reports that the controller first waits until a person approves the deletion.
		Unapproved bool     `json:"unapproved,omitzero"`
		Hooks      []string `json:"hooks,omitempty"` // what it runs before or after: Kind/name, or the names of phases
	}
	// InventoryUnread means that the inventory could not be read.
	InventoryUnread struct {
		Controller string `json:"controller"`
		ErrorClass string `json:"errorClass"` // as in gaps[].reason
	}
	// DeletedByController means that the controller of another object deletes this one, once that is being deleted.
	DeletedByController struct {
		Controller string          `json:"controller"`
		With       object.Identity `json:"with"`
	}
	// KeptByMark means that the controller of a deleted object leaves this one because of a label or an annotation.
	KeptByMark struct {
		Controller string `json:"controller"`
		Mark       string `json:"mark"` // key: value
	}
)

// Why the controller of a deleted object deletes nothing with it in this cluster.
var (
	// the controller does so only for an object with this finalizer
	InventoryNotHeld = says2("InventoryNotHeld", "controller finalizer", func(controller, finalizer string) string {
		return fmt.Sprintf("%s deletes nothing with it: it does not have the finalizer %s", controller, finalizer)
	})
	// a field of its spec keeps what the controller has deployed
	InventoryKept = says2("InventoryKept", "controller field", func(controller, field string) string {
		return fmt.Sprintf("%s deletes nothing with it, because of %s", controller, field)
	})
	// its objects are in another cluster, as far as it names one
	InventoryElsewhere = says2("InventoryElsewhere", "controller cluster", func(controller, cluster string) string {
		return fmt.Sprintf("%s deletes what it has deployed to %s, which is not shown here", controller, cluster)
	})
	// the object manages something outside of the cluster
	ExternalDeleted = fixed("ExternalDeleted", "Crossplane deletes what it manages outside of the cluster")
	// a field of its spec keeps that
	ExternalKept = with[string]("ExternalKept", "field", "Crossplane keeps what it manages outside of the cluster, because of %s")
	// the object is a revision of a Helm release
	ReleaseForgotten = fixed("ReleaseForgotten", "Helm forgets this revision of the release, and its objects stay: to delete them, uninstall the release")
)

// Why it leaves an object that its inventory lists, or may.
var (
	// the object is a CustomResourceDefinition, and the controller leaves these
	DefinitionKept = with[string]("DefinitionKept", "controller", "%s deletes no CustomResourceDefinitions")
	// the labels of the object do not name what is deleted as its owner
	KeptForOther = says2("KeptForOther", "controller with", func(controller string, with object.Identity) string {
		return fmt.Sprintf("%s keeps it: its labels do not name %s", controller, with)
	})
	// labels or annotations of the object may keep it, and could not be read
	MarksUnread = with[string]("MarksUnread", "controller", "its labels and annotations could not be read, with which it may tell %s to keep it")
)

func (r InventoryDeleted) Message() string {
	what := Count(r.Objects, "object")
	if r.Objects == 0 {
		what = "nothing else"
	}
	text := fmt.Sprintf("%s deletes %s with it", r.Controller, what)
	if r.Kept > 0 {
		text += fmt.Sprintf(" and keeps %d", r.Kept)
	}
	if r.Unread > 0 {
		text += "; " + r.Brief()
	}
	if len(r.Hooks) > 0 {
		text += "; it also runs hooks, which may delete or create more: " + strings.Join(r.Hooks, ", ")
	}
	if r.Unapproved {
		text += "; it waits until someone approves the deletion"
	}
	return text
}

// Brief is about what could not be read.
func (r InventoryDeleted) Brief() string {
	return fmt.Sprintf("%s may delete %d more, which this tool could not read", r.Controller, r.Unread)
}

func (r InventoryUnread) Message() string {
	return fmt.Sprintf("%s also deletes what it has deployed, and this tool could not read what that is (%s)", r.Controller, r.ErrorClass)
}

func (r DeletedByController) Message() string {
	return fmt.Sprintf("%s deletes it with %s", r.Controller, r.With)
}

func (r DeletedByController) Brief() string { return "deleted by " + r.Controller }

func (r KeptByMark) Message() string {
	return fmt.Sprintf("%s keeps it because of %s", r.Controller, r.Mark)
}
