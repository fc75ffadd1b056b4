package reason

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Why a step of a restoration ended as it did, besides the reasons of other runs.
var _ = register(
	AlreadyExists{}, NotCreated{}, OwnerNotCreated{}, OwnerGone{}, OwnerRereadFailed{}, BackupUnreadable{}, ConflictingController{}, PartlyLinked{},
	AddressReplaced{}, CreatedUnrecorded{}, DefinitionNotServed{}, DryRunImpossible{},
)

// AlreadyExists means that another object has the name of the one to create.
type AlreadyExists struct{}

// Message implements Reason.
func (AlreadyExists) Message() string { return "another object of that name exists now" }

// NotCreated means that the object that would get references was not created.
type NotCreated struct{}

// Message implements Reason.
func (NotCreated) Message() string { return "it was not created" }

// OwnerNotCreated means that an owner of the object was not created, so it would refer to
// nothing.
type OwnerNotCreated struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r OwnerNotCreated) Message() string {
	return fmt.Sprintf("its owner %s was not created", r.Owner)
}

// OwnerGone means that an owner of the object does not exist any more, or waits for its
// dependents to be deleted.
type OwnerGone struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r OwnerGone) Message() string { return fmt.Sprintf("its owner %s no longer exists", r.Owner) }

// OwnerRereadFailed means that an owner of the object could not be read again.
type OwnerRereadFailed struct{ Failure }

// Message implements Reason.
func (r OwnerRereadFailed) Message() string {
	return "its owner could not be read again: " + r.Failure.Text()
}

// BackupUnreadable means that the manifest of the object could not be read from the backup.
type BackupUnreadable struct{ Failure }

// Message implements Reason.
func (r BackupUnreadable) Message() string {
	return "its backup could not be read: " + r.Failure.Text()
}

// ConflictingController means that another owner controls the object now.
type ConflictingController struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r ConflictingController) Message() string {
	return fmt.Sprintf("%s controls it now", r.Owner)
}

// PartlyLinked means that the references were added, save for one to an owner that was not
// created.
type PartlyLinked struct {
	Owner object.Reference `json:"owner"`
}

// Message implements Reason.
func (r PartlyLinked) Message() string {
	return fmt.Sprintf("but its owner %s was not created", r.Owner)
}

// AddressReplaced means that the object was created with a new address, as another object
// has the old one.
type AddressReplaced struct{}

// Message implements Reason.
func (AddressReplaced) Message() string { return "with another address, because the old one is taken" }

// CreatedUnrecorded means that the object was created, and the backup could not record that.
type CreatedUnrecorded struct{ Failure }

// Message implements Reason.
func (r CreatedUnrecorded) Message() string { return "created, but not recorded: " + r.Failure.Text() }

// DefinitionNotServed means that the object was created, and the API server does not yet serve
// the types that it defines.
type DefinitionNotServed struct{}

// Message implements Reason.
func (DefinitionNotServed) Message() string {
	return "created, but the types that it defines are not served yet"
}

// DryRunImpossible means that the API server cannot try the step before another one is done.
type DryRunImpossible struct {
	Missing Prerequisite `json:"missing"`
}

// Prerequisite is what has to exist before a step can be tried.
type Prerequisite string

// The prerequisites.
const (
	ItsNamespace Prerequisite = "Namespace"
	ItsType      Prerequisite = "Type"
	Itself       Prerequisite = "Object"
)

// Message implements Reason.
func (r DryRunImpossible) Message() string {
	switch r.Missing {
	case ItsNamespace:
		return "cannot be tried before its namespace exists"
	case ItsType:
		return "cannot be tried before its type is served"
	case Itself:
	}
	return "cannot be tried before it is created"
}
