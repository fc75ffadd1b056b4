package reason

import "fmt"

// Why a step of a restoration ended as it did, besides the reasons of other runs.
var _ = register(
	OwnerNotCreated{}, OwnerGone{}, OwnerRereadFailed{}, BackupUnreadable{}, ConflictingController{}, PartlyLinked{},
	CreatedUnrecorded{}, DryRunImpossible{},
)

// Those without parameters.
var (
	// another object has the name of the one to create
	AlreadyExists = fixed("AlreadyExists", "another object of that name exists now")
	// the object that would get references was not created
	NotCreated = fixed("NotCreated", "it was not created")
	// the object was created with a new address, as another object has the old one
	AddressReplaced = fixed("AddressReplaced", "with another address, because the old one is taken")
	// the object was created, and the API server does not yet serve the types that it defines
	DefinitionNotServed = fixed("DefinitionNotServed", "created, but the types that it defines are not served yet")
)

// Those with one parameter.
type (
	OwnerNotCreated       referenceParameter // an owner of the object was not created, so it would refer to nothing
	OwnerGone             referenceParameter // an owner of the object does not exist any more, or waits for its dependents to be deleted
	OwnerRereadFailed     struct{ Failure }  // an owner of the object could not be read again
	BackupUnreadable      struct{ Failure }  // the manifest of the object could not be read from the backup
	ConflictingController referenceParameter // another owner controls the object now
	PartlyLinked          referenceParameter // the references were added, save for one to an owner that was not created
	CreatedUnrecorded     struct{ Failure }  // the object was created, and the backup could not record that
)

func (r OwnerNotCreated) Message() string {
	return fmt.Sprintf("its owner %s was not created", r.Owner)
}
func (r OwnerGone) Message() string { return fmt.Sprintf("its owner %s no longer exists", r.Owner) }
func (r OwnerRereadFailed) Message() string {
	return "its owner could not be read again: " + r.Failure.Text()
}

func (r BackupUnreadable) Message() string {
	return "its backup could not be read: " + r.Failure.Text()
}

func (r ConflictingController) Message() string {
	return fmt.Sprintf("%s controls it now", r.Owner)
}

func (r PartlyLinked) Message() string {
	return fmt.Sprintf("but its owner %s was not created", r.Owner)
}

func (r CreatedUnrecorded) Message() string { return "created, but not recorded: " + r.Failure.Text() }

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
